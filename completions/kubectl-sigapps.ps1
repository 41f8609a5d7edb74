# Completion of kubectl-sigapps for PowerShell. Printed by: kubectl-sigapps completion powershell
# It asks the program itself what may follow.

Register-ArgumentCompleter -Native -CommandName 'kubectl-sigapps', 'kubectl-sigapps.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition })
    $program = "$($elements[0])"
    $words = @($elements | Select-Object -Skip 1 | ForEach-Object {
            $text = $_.Extent.Text
            if ($_.Extent.EndOffset -gt $cursorPosition) {
                $text = $text.Substring(0, $cursorPosition - $_.Extent.StartOffset)
            }
            $text -replace '^[''"]|[''"]$', ''
        })
    # An empty last word would be lost on the way to the program before PowerShell 7.3: it has a name of its own.
    $begun = $elements.Count -gt 1 -and $elements[-1].Extent.EndOffset -ge $cursorPosition
    $verb = if ($begun) { '__complete' } else { '__complete_next' }
    $lines = @(& $program $verb @words 2>$null)
    if ($lines.Count -eq 0) { return }

    $directive = 0
    if ($lines[-1] -match '^:(\d+)$') {
        $directive = [int]$Matches[1]
        $lines = @($lines | Select-Object -SkipLast 1)
    }
    # Of --flag=value the value is completed; PowerShell wants the whole word.
    $flag = ''
    if ($begun -and $words[-1] -match '^(-[^=]*=)') { $flag = $Matches[1] }
    $space = if (($directive -band 2) -ne 0) { '' } else { ' ' }
    foreach ($line in $lines) {
        if (-not $line) { continue }
        $text, $help = $line -split "`t", 2
        if (-not $help) { $help = $text }
        $whole = $flag + $text
        # What PowerShell would read as something else is quoted.
        if ($whole -match '[\s''"`$;,(){}@#&|<>*]') { $insert = "'" + ($whole -replace "'", "''") + "'" } else { $insert = $whole }
        [System.Management.Automation.CompletionResult]::new($insert + $space, $text, 'ParameterValue', $help)
    }
    # Without a candidate PowerShell offers files by itself; where none is meant, it is given nothing else to offer.
    if ($lines.Count -eq 0 -and ($directive -band 4) -ne 0) { '' }
}
