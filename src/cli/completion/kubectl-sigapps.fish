# Completion of kubectl-sigapps for fish. Printed by: kubectl-sigapps completion fish
# It asks the program itself what may follow.

function __kubectl_sigapps_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # A quote that was begun is no part of the word; a home folder is nothing that only the shell knows.
    set current (string trim --left --chars '"\'' -- $current | string replace -r -- '^~/' "$HOME/")
    set words (string replace -r -- '^~/' "$HOME/" $words)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null </dev/null)
    set -l directive 0
    if string match -qr '^:[0-9]+$' -- "$lines[-1]"
        set directive (string sub --start 2 -- $lines[-1])
        set -e lines[-1]
    end
    # Of --flag=value the value is completed; fish wants the whole word.
    set -l flag (string match -r -- '^-[^=]*=' "$current")
    if test (count $lines) -gt 0
        printf '%s\n' "$flag"$lines
        return
    end
    set -l rest (string replace -- "$flag" '' "$current")
    set -l paths
    switch $directive
        case 0
            set paths (__fish_complete_path "$rest")
        case 16
            set paths (__fish_complete_directories "$rest" '')
    end
    for path in $paths
        printf '%s\n' "$flag$path"
    end
end

complete -c kubectl-sigapps -e
complete -c kubectl-sigapps -f -a '(__kubectl_sigapps_complete)'
