package shell

import (
	"slices"
	"strings"
)

// echoed is what a command writes that repeats its arguments or its input. It is not ok if that is not known.
func echoed(words []string, stdin string) (text string, ok bool) {
	if len(words) == 0 { // assignments alone
		return "", true
	}
	if words[0] == "command" && len(words) == 3 && words[1] == "-v" {
		return words[2] + "\n", true // in some folder
	}
	for len(words) > 1 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
	}
	program, args := Program(words[0]), words[1:]
	switch {
	case program == "echo":
		return echo(args), true
	case program == "printf":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			return printf(args[0], args[1:])
		}
	case program == "cat":
		if len(args) == 0 || len(args) == 1 && (args[0] == "-" || isStdin(args[0])) {
			return stdin, stdin != ""
		}
	case program == "tee":
		return stdin, stdin != ""
	case program == "which" && len(args) == 1:
		return args[0] + "\n", true
	case program == "cd" && slices.Contains(args, "-"), program == "set" && len(args) == 0:
	case silent[program]:
		return "", true
	}
	return "", false
}

// echo is what the command of this name writes, bash's.
func echo(args []string) string {
	escapes, end := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, letter := range args[0][1:] {
			switch letter {
			case 'n':
				end = ""
			default:
				escapes = letter == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var cut bool
		if text, _, cut = strings.Cut(text, `\c`); cut {
			end = ""
		}
		text = unescaped(text)
	}
	return text + end
}

// printf is what the command of this name writes, if all that its format asks for is its arguments as they are.
func printf(format string, args []string) (string, bool) {
	var b strings.Builder
	for {
		before := len(args)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' {
				end := i + 1
				for end < len(format) && format[end] != '%' {
					end++
				}
				ansiC(&b, format[i:end])
				i = end - 1
				continue
			}
			if i++; i == len(format) || strings.IndexByte("sbd%", format[i]) < 0 {
				return "", false
			}
			switch {
			case format[i] == '%':
				b.WriteByte('%')
			case len(args) == 0:
			case format[i] == 'b':
				ansiC(&b, args[0])
				args = args[1:]
			default:
				b.WriteString(args[0])
				args = args[1:]
			}
		}
		if b.Len() > maxSource {
			return "", false
		}
		if len(args) == 0 || len(args) == before {
			return b.String(), true
		}
	}
}

func unescaped(s string) string {
	var b strings.Builder
	ansiC(&b, s)
	return b.String()
}

// isStdin reports whether a file is what the command reads anyway.
func isStdin(file string) bool {
	return file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0"
}
