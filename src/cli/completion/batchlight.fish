# Completion of batchlight for fish; `batchlight completion fish` prints it. The program itself knows
# what may come next.
function __batchlight_complete
    set -l current "$(commandline -ct)"
    set -l words (commandline -opc)
    set -l lines ($words[1] complete -- $words[2..] $current 2>/dev/null)
    set -l directive (string split ' ' -- $lines[1])
    set -e lines[1]
    string join \n -- $lines
    switch "$directive[1]"
        case :program
            set -l first (math $directive[2] + 2)
            set -l program
            test $first -le (count $words); and set program (string escape -- $words[$first..])
            complete -C "$(string join ' ' -- $program $current)"
        case :files :runs :folders
            set -l before (string sub -l $directive[2] -- $current)
            for file in (__fish_complete_path (string sub -s (math $directive[2] + 1) -- $current))
                set -l name (string split \t -- $file)[1]
                switch "$directive[1] $name"
                    case ':files *' '* */' ':runs *.batchlight' ':runs *.sqlite' ':runs *.json' ':runs *.json.gz' ':runs *.nsys-rep'
                        echo $before$file
                end
            end
    end
end
complete -c batchlight -f -a '(__batchlight_complete)'
