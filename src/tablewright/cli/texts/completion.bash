# Completion for bash. In ~/.bashrc:  eval "$(tablewright completion bash)"
_tablewright() {
    local IFS=$'\n' current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local command="" word values="" options="" files=""
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$command/$word" in
@WORDS@
        esac
    done
    case "$command" in
@COMMANDS@
    esac
    case "$command $previous" in
@ARGUMENTS@
    esac
    COMPREPLY=()
    if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "${options// /$IFS}" -- "$current"))
        return
    fi
    COMPREPLY=($(compgen -W "${values// /$IFS}" -- "$current"))
    if [[ -n "$files" ]]; then
        COMPREPLY+=($(compgen -f -- "$current"))
        type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
    fi
}
complete -o default -F _tablewright tablewright
