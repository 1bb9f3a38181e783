// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of shells
/** `moniker completion`: scripts that complete commands and options in bash, zsh and fish. They are made from the commands themselves. */
import { type Command, Argument } from 'commander';
import { print } from '../local/printing.ts';

type Node = { path: string; words: { word: string; description: string }[] };

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      '\nExamples:\n  bash: moniker completion bash > ~/.local/share/bash-completion/completions/moniker\n' +
        '  zsh:  moniker completion zsh > "${fpath[1]}/_moniker"\n  fish: moniker completion fish > ~/.config/fish/completions/moniker.fish',
    )
    .action((shell: keyof typeof scripts) => {
      print(scripts[shell](listWords(program)));
    });
}

/** One entry for the program, and one for each command, with what can follow it. */
export function listWords(command: Command, path = ''): Node[] {
  const commands = command.commands.map((one) => ({ word: one.name(), description: one.description() }));
  // commander has no getter for the name of a default command, whose options may follow its parent.
  const { _defaultCommandName: standard } = command as Command & { _defaultCommandName?: string };
  const options = [command, ...command.commands.filter((one) => one.name() === standard)]
    .flatMap((one) => one.options)
    .filter(({ hidden }) => !hidden)
    .map((one) => ({ word: one.long ?? one.short ?? '', description: one.description }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((word) => ({ word, description: '' })));
  const words = [...commands, ...choices, ...options, { word: '--help', description: 'print the help' }];
  return [{ path, words }, ...command.commands.flatMap((one) => listWords(one, `${path} ${one.name()}`.trim()))];
}

/** Finds the command among the words before the cursor: `add server` before `add`. Shared by bash and zsh, where arrays differ. */
function caseOf(nodes: readonly Node[]): string {
  return nodes
    .map(({ path, words }) => `    ${path === '' ? "''" : `'${path}'`}) choices='${words.map(({ word }) => word).join(' ')}' ;;`)
    .join('\n');
}

function bashScript(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path.includes(' '));
  return `# bash completion for moniker
_moniker() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' choices='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      --) return ;;
      -*) ;;
      *) case "$command" in
          '') command="\${COMP_WORDS[index]}" ;;
          ${parentsOf(paths)}) command="$command \${COMP_WORDS[index]}" ;;
        esac ;;
    esac
  done
  case "$command" in
${caseOf(nodes)}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null
}
complete -F _moniker moniker`;
}

function zshScript(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path.includes(' '));
  return `#compdef moniker
_moniker() {
  local command='' choices='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in
      --) _files; return ;;
      -*) ;;
      *) case "$command" in
          '') command="$word" ;;
          ${parentsOf(paths)}) command="$command $word" ;;
        esac ;;
    esac
  done
  case "$command" in
${caseOf(nodes)}
  esac
  compadd -- \${=choices} || _files
}
compdef _moniker moniker`;
}

/** Commands that have commands: \`add\`. */
function parentsOf(paths: readonly string[]): string {
  return [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf(' '))))].join('|') || "'none'";
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words }) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    return words.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c moniker ${word.startsWith('--') ? '' : '-f '}-n '${condition}' ${what} -d '${description.replaceAll("'", "\\'")}'`;
    });
  });
  return `# fish completion for moniker\n${lines.join('\n')}`;
}
