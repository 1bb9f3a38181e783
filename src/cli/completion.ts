// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of shells
/**
 * `moniker completion`: scripts that complete commands, options, and names of agents, toolsets and models in bash, zsh and fish. They are made
 * from the commands themselves, and ask `moniker completion agents` and its siblings for the names.
 */
import { type Command, Argument } from 'commander';
import { print } from '../local/printing.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { type CompletedKind, completedKinds, namesOf } from './toolset-choice.ts';

/** `names`: what the arguments name. */
type Node = { path: string; words: { word: string; description: string }[]; names: CompletedKind[] };

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The shell waits for it. */
const namesTimeoutMs = 3_000;
const maxNames = 500;

export function addCompletionCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('completion')
      .description('print a completion script for a shell, or the names that it completes')
      .addArgument(new Argument('<what>').choices([...Object.keys(scripts), ...completedKinds]))
      .addHelpText(
        'after',
        '\nExamples:\n  bash: moniker completion bash > ~/.local/share/bash-completion/completions/moniker\n' +
          '  zsh:  moniker completion zsh > "${fpath[1]}/_moniker"\n  fish: moniker completion fish > ~/.config/fish/completions/moniker.fish\n' +
          '  moniker completion models',
      ),
  ).action(async (what: keyof typeof scripts | CompletedKind, options: ConnectionOptions) => {
    if (what in scripts) print(scripts[what as keyof typeof scripts](listWords(program)));
    else await printNames(what as CompletedKind, options);
  });
}

/** Only names that no shell reads as anything else: the scripts pass them to `compgen`, which expands its words. */
async function printNames(kind: CompletedKind, options: ConnectionOptions): Promise<void> {
  const { client } = connectService(options, namesTimeoutMs);
  for (const name of await namesOf(client, kind, maxNames)) if (/^\w[\w./:@+-]*$/.test(name)) print(name);
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
  const names = command.registeredArguments.map((one) => kindOf(one.name())).filter((kind) => kind !== undefined);
  return [{ path, words, names }, ...command.commands.flatMap((one) => listWords(one, `${path} ${one.name()}`.trim()))];
}

/** What `--agent` and `<agent>` name: agents. New things, as those of `add`, are called `name`. */
function kindOf(name: string): CompletedKind | undefined {
  return completedKinds.find((kind) => kind === `${name}s`);
}

/** Finds the command among the words before the cursor: `add server` before `add`. Shared by bash and zsh, where arrays differ. */
function caseOf(nodes: readonly Node[]): string {
  return nodes
    .map(
      ({ path, words, names }) =>
        `    '${path}') choices='${words.map(({ word }) => word).join(' ')}'${names.length > 0 ? ` kinds='${names.join(' ')}'` : ''} ;;`,
    )
    .join('\n');
}

/** The kind of names that an option before the cursor takes. Shared by bash and zsh. */
function optionCases(): string {
  return completedKinds.map((kind) => `    --${kind.slice(0, -1)}) choices='' kinds='${kind}' ;;`).join('\n');
}

/** Adds the names to the choices, unless the word is an option. Shared by bash and zsh. */
const addNames = `  if [[ "$current" != -* ]]; then
    for kind in $KINDS; do choices="$choices $(moniker completion "$kind" 2>/dev/null)"; done
  fi`;

function bashScript(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path.includes(' '));
  // Names of models have colons, at which bash would split them.
  return `# bash completion for moniker
COMP_WORDBREAKS=\${COMP_WORDBREAKS//:}
_moniker() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' choices='' kinds='' kind index
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
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${optionCases()}
  esac
${addNames.replace('$KINDS', '$kinds')}
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null
}
complete -F _moniker moniker`;
}

function zshScript(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path.includes(' '));
  return `#compdef moniker
_moniker() {
  local current="\${words[CURRENT]}" command='' choices='' kinds='' kind word
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
  case "\${words[CURRENT-1]}" in
${optionCases()}
  esac
${addNames.replace('$KINDS', '${=kinds}')}
  compadd -- \${=choices} || _files
}
compdef _moniker moniker`;
}

/** Commands that have commands: \`add\`. */
function parentsOf(paths: readonly string[]): string {
  return [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf(' '))))].join('|') || "'none'";
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words, names }) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((word) => `__fish_seen_subcommand_from ${word}`)
            .join('; and ');
    const named = names.map((kind) => `complete -c moniker -f -n '${condition}' -a '(moniker completion ${kind} 2>/dev/null)'`);
    const known = words.map(({ word, description }) => {
      const kind = kindOf(word.slice(2));
      const values = kind === undefined ? '' : ` -x -a '(moniker completion ${kind} 2>/dev/null)'`;
      const what = word.startsWith('--') ? `-l ${word.slice(2)}${values}` : `-a ${word}`;
      return `complete -c moniker ${word.startsWith('--') ? '' : '-f '}-n '${condition}' ${what} -d '${description.replaceAll("'", "\\'")}'`;
    });
    return [...named, ...known];
  });
  return `# fish completion for moniker\n${lines.join('\n')}`;
}
