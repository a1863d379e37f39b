# Completion of batchlight for bash; `batchlight completion bash` prints it. The program itself knows
# what may come next.
_batchlight() {
  local line=${COMP_LINE:0:COMP_POINT} words=() starts=() i word rest
  # bash parts words at = and : too: what the line has in one piece is one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    rest=${line#"${line%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && word=$rest
    if ((i > 0)) && [[ $rest == "$line" && -n $word ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word") starts+=("$i")
    fi
    line=${rest#"$word"}
  done

  local lines=() current=${words[${#words[@]} - 1]}
  mapfile -t lines < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
  ((${#lines[@]} > 0)) || return
  local directive=${lines[0]%% *} number=${lines[0]##* }
  COMPREPLY=("${lines[@]:1}")
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")

  case $directive in
    :program)
      if declare -F _command_offset >/dev/null; then
        _command_offset "${starts[number + 1]}"
      elif ((number + 2 == ${#words[@]})); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      else
        compopt -o default
      fi
      return
      ;;
    :folders | :files | :runs)
      local file files=() value=${current:number}
      mapfile -t files < <(compgen -d -- "$value")
      if [[ $directive != :folders ]]; then
        while IFS= read -r file; do
          [[ -d $file ]] && continue
          if [[ $directive == :files ]]; then files+=("$file"); fi
          case $directive$file in
            :runs*.batchlight | :runs*.sqlite | :runs*.json | :runs*.json.gz | :runs*.nsys-rep) files+=("$file") ;;
          esac
        done < <(compgen -f -- "$value")
      fi
      compopt -o filenames
      COMPREPLY+=("${files[@]}")
      ;;
  esac

  # What bash took for the begin of a new word stays.
  local before=${current%"${current##*[=:]}"}
  [[ -n $before && $COMP_WORDBREAKS == *"${before: -1}"* ]] && COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -F _batchlight batchlight
