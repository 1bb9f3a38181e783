/**
 * What stands around each command of the shell: a point at which the script gives way, and before `diff`, which compares every line with every
 * other and never says a word on its way, a look at what it would compare.
 */
import type { Bash, Command } from 'just-bash/browser';
import { limits } from '../../core/limits.ts';
import { isLongPattern } from './long-pattern.ts';
import type { Turns } from './turns.ts';

type Context = Parameters<Command['execute']>[1];

/** Before the first run. Throws where the interpreter no longer keeps its commands as it does in the version that we pin. */
export function surroundCommands(shell: Bash, turns: Turns): void {
  const commands: unknown = Reflect.get(shell, 'commands');
  if (!(commands instanceof Map)) throw new Error('just-bash keeps its commands elsewhere: see surround-commands.ts');
  for (const command of commands.values()) surroundCommand(command as Command, turns);
}

function surroundCommand(command: Command, turns: Turns): void {
  const execute = command.execute;
  command.execute = async (args, context) => {
    await turns.pass();
    const fault =
      command.name === 'diff' ? await diffFault(args, context) : patternTakers.has(command.name) ? longPatternFault(args) : null;
    if (fault !== null) return { stdout: '', stderr: `${command.name}: ${fault}\n`, exitCode: 2 };
    return await execute(args, context);
  };
}

const patternTakers: ReadonlySet<string> = new Set(['grep', 'egrep', 'fgrep', 'rg', 'sed', 'awk', 'jq', 'yq', 'find', 'expr', 'xan']);

/** An engine that never backtracks still takes the pattern's length times the text's, and its parser the depth of groups squared. */
function longPatternFault(args: readonly string[]): string | null {
  return args.some(isLongPattern) ? `an argument is longer than ${limits.maxShellPatternLength} characters, or nests too deeply` : null;
}

/** Why two files are not compared line by line; null: they may be. What cannot be read is the command's to say. */
async function diffFault(args: readonly string[], context: Context): Promise<string | null> {
  const [from, to] = args.filter((arg) => arg === '-' || !arg.startsWith('-'));
  if (from === undefined || to === undefined || args.includes('-q') || args.includes('--brief')) return null;
  const [before, after] = await Promise.all([linesOf(from, context), linesOf(to, context)]);
  if (before === null || after === null) return null;
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const differing = before.length + after.length - 2 * (start + end);
  return differing <= limits.maxDiffLines
    ? null
    : `the files differ over ${differing} lines, more than ${limits.maxDiffLines}: compare parts of them (sed -n), or use sort and comm`;
}

async function linesOf(path: string, context: Context): Promise<string[] | null> {
  try {
    const text = path === '-' ? String(context.stdin) : await context.fs.readFile(context.fs.resolvePath(context.cwd, path));
    return text.split('\n');
  } catch {
    // Not there, or a directory: said by the command itself.
    return null;
  }
}
