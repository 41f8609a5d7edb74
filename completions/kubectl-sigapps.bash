# Completion of kubectl-sigapps for bash. Printed by: kubectl-sigapps completion bash
# It asks the program itself what may follow, and needs nothing but bash, 3.2 or newer.

# Reads the line up to the cursor into the array `words`, without quotes and backslashes: bash has cut it at = and :, too.
__kubectl_sigapps_words() {
    local line=${COMP_LINE:0:COMP_POINT} quote='' word='' in_word='' c='' i=0
    words=()
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote == "'" ]]; then
            if [[ $c == "'" ]]; then quote=''; else word+=$c; fi
        elif [[ $c == \\ ]]; then
            i=$((i + 1))
            word+=${line:i:1}
            in_word=1
        elif [[ $quote == '"' ]]; then
            if [[ $c == '"' ]]; then quote=''; else word+=$c; fi
        elif [[ $c == [\'\"] ]]; then
            quote=$c
            in_word=1
        elif [[ $c == [[:space:]] ]]; then
            if [[ -n $in_word ]]; then words+=("$word"); fi
            word=''
            in_word=''
        else
            # A home folder is nothing that only the shell knows.
            if [[ $c == '~' && -z $in_word ]]; then word=$HOME; else word+=$c; fi
            in_word=1
        fi
    done
    words+=("$word")
}

__kubectl_sigapps() {
    local IFS=$' \t\n'
    local -a words
    __kubectl_sigapps_words
    COMPREPLY=()
    ((${#words[@]} > 1)) || return 0
    local program=${words[0]} current=${words[${#words[@]}-1]} out='' directive=0
    out=$("$program" __complete "${words[@]:1}" 2>/dev/null </dev/null) || return 0
    directive=${out##*:}
    out=${out%:*}

    # Of --flag=value the value is completed, and of the word bash puts in only what is behind its last break.
    local flag='' broken='' break=''
    if [[ $current == -*=* ]]; then flag=${current%%=*}=; fi
    for break in '=' ':' '@'; do
        if [[ $COMP_WORDBREAKS == *"$break"* && $current == *"$break"* ]]; then
            local upto=${current%"${current##*"$break"}"}
            if ((${#upto} > ${#broken})); then broken=$upto; fi
        fi
    done

    local tab=$'\t' line='' text='' longest=0
    local -a texts=() helps=()
    while IFS='' read -r line; do
        [[ -n $line ]] || continue
        text=$flag${line%%"$tab"*}
        [[ $text == "$current"* ]] || continue
        text=${text#"$broken"}
        texts+=("$text")
        if [[ $line == *"$tab"* ]]; then helps+=("${line#*"$tab"}"); else helps+=(''); fi
        if ((${#text} > longest)); then longest=${#text}; fi
    done <<<"$out"

    if ((${#texts[@]} == 0)); then
        case $directive in
            0) __kubectl_sigapps_paths -f "${current#"$flag"}" "$flag" "$broken" ;;
            16) __kubectl_sigapps_paths -d "${current#"$flag"}" "$flag" "$broken" ;;
        esac
        return 0
    fi
    if (((directive & 2) != 0)); then compopt -o nospace 2>/dev/null; fi
    if ((${#texts[@]} == 1)); then
        COMPREPLY=("$(printf '%q' "${texts[0]}")")
        return 0
    fi
    local i=0 width=${COLUMNS:-80}
    for ((i = 0; i < ${#texts[@]}; i++)); do
        # What is put in as it stands, one after the other, has no help behind it.
        if [[ -z ${helps[i]} || $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then
            COMPREPLY+=("${texts[i]}")
        else
            printf -v line '%-*s  (%s)' "$longest" "${texts[i]}" "${helps[i]}"
            if ((${#line} > width)); then line=${line:0:width-1}…; fi
            COMPREPLY+=("$line")
        fi
    done
}

# Offers files (-f) or folders (-d) that begin so.
__kubectl_sigapps_paths() {
    local path=''
    compopt -o filenames 2>/dev/null
    while IFS='' read -r path; do
        path=$3$path
        COMPREPLY+=("${path#"$4"}")
    done < <(compgen "$1" -- "$2")
}

complete -F __kubectl_sigapps kubectl-sigapps
