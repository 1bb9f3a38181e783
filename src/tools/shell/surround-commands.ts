/**
 * What stands around each command of the shell: points at which the script gives way, and a look at what it would take in, since the command
 * itself says no word on its way through it.
 */
import type { Bash, Command } from 'just-bash/browser';
import { limits } from '../../core/limits.ts';
import { duringCommand, type InvalidPattern } from './interpreter-hooks.ts';
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
    const fault = (await sizeFault(command.name, args, context)) ?? (command.name === 'diff' ? await diffFault(args, context) : null);
    if (fault !== null) return { stdout: '', stderr: `${command.name}: ${fault}\n`, exitCode: 2 };
    const { value, invalid } = await duringCommand(() =>
      command.name === 'ls' ? listLiterally(args, context, execute) : execute(args, context),
    );
    // Whatever it made of an error of its patterns.
    await turns.pass();
    if (invalid !== null && isSilent(command.name, invalid.text))
      return { ...value, stderr: `${value.stderr}${command.name}: ${explain(invalid)}\n`, exitCode: 2 };
    return value;
  };
}

/** These commands take an invalid pattern for one that does not match, and the script would continue with what was never done. */
function isSilent(name: string, pattern: string): boolean {
  // A separator of awk may be any one character.
  return ['sed', 'awk', 'jq', 'find', 'expr'].includes(name) && !(name === 'awk' && pattern.length === 1);
}

function explain({ text, why }: InvalidPattern): string {
  const shown = text.length > limits.maxQuotedLength ? `${text.slice(0, limits.maxQuotedLength)}…`.toWellFormed() : text;
  return `not a pattern of this shell: ${shown} (${why.replace(/^error parsing regexp: /, '')}); it knows no backreferences in patterns and no lookaround`;
}

/** Why a command is not let near what it is given; null: it may run. */
async function sizeFault(name: string, args: readonly string[], context: Context): Promise<string | null> {
  if (!takers.has(name)) return null;
  let bytes = String(context.stdin).length;
  // Whatever it means to the command: an option is no file, and a word that is one by chance is small.
  for (const arg of args) bytes += await sizeOf(arg, context);
  const most = mostBytes(name, args);
  if (bytes > most) return `more at once than this shell takes (${bytes} bytes of at most ${most}): split it (head -c, split, sed -n)`;
  if (name === 'html-to-markdown' && (await depthOf(args, context)) > limits.maxShellHtmlDepth)
    return `elements in elements deeper than ${limits.maxShellHtmlDepth}`;
  return null;
}

/** All that go through the whole of it at once; others stream, or have bounds of their own. */
const takers: ReadonlySet<string> = new Set(
  'sort uniq comm join paste cut tr rev tac nl fold expand unexpand column grep egrep fgrep rg sed awk jq wc diff od xxd strings base64 md5sum sha1sum sha256sum gzip gunzip zcat html-to-markdown'.split(
    ' ',
  ),
);

function mostBytes(name: string, args: readonly string[]): number {
  if (name === 'html-to-markdown') return limits.maxShellHtmlBytes;
  if (name === 'gzip') return limits.maxShellGzipBytes;
  const isKeyed = name === 'sort' && args.some((arg) => /^-[a-zA-Z]*[kVhM]/.test(arg) || /^--(key|human|version|month|sort)/.test(arg));
  return isKeyed ? limits.maxShellKeyedSortBytes : limits.maxShellCommandBytes;
}

async function sizeOf(arg: string, context: Context): Promise<number> {
  if (arg === '-' || arg === '') return 0;
  try {
    const stat = await context.fs.stat(context.fs.resolvePath(context.cwd, arg));
    return stat.isFile ? stat.size : 0;
  } catch {
    // No file of that name: an option or a pattern, or the command says it itself.
    return 0;
  }
}

/** How deep elements stand in each other, those that need no end not counted. */
async function depthOf(args: readonly string[], context: Context): Promise<number> {
  const files = await Promise.all(args.map((arg) => textOf(arg, context)));
  let most = 0;
  for (const text of [String(context.stdin), ...files]) {
    let depth = 0;
    for (const [, end, name = ''] of (text ?? '').matchAll(/<(\/?)([a-zA-Z]+)/g)) {
      if (!endless.has(name.toLowerCase())) depth = Math.max(0, depth + (end === '' ? 1 : -1));
      most = Math.max(most, depth);
    }
  }
  return most;
}

const endless: ReadonlySet<string> = new Set(
  'p li td th tr dt dd br hr img input meta link option source wbr col area base thead tbody'.split(' '),
);

/**
 * What the shell left of a glob, or was quoted, is a name. This `ls` would look for files with it once more, by an engine that backtracks
 * (minimatch, over the engine of the language): `*a*a*a*a…b` against one long name takes longer than anybody waits.
 */
async function listLiterally(args: string[], context: Context, execute: Command['execute']): ReturnType<Command['execute']> {
  const kept: string[] = [];
  const missing: string[] = [];
  for (const arg of args) {
    if (arg.startsWith('-') || !/[*?[]/.test(arg)) kept.push(arg);
    else if (await context.fs.exists(context.fs.resolvePath(context.cwd, arg))) kept.push(arg.replace(/[*?[\]{}()!+@\\]/g, '\\$&'));
    else missing.push(arg);
  }
  if (missing.length === 0) return await execute(kept, context);
  const stderr = missing.map((name) => `ls: ${name}: No such file or directory\n`).join('');
  if (kept.every((arg) => arg.startsWith('-'))) return { stdout: '', stderr, exitCode: 2 };
  const ended = await execute(kept, context);
  return { ...ended, stderr: stderr + ended.stderr, exitCode: 2 };
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
  return (await textOf(path, context))?.split('\n') ?? null;
}

async function textOf(path: string, context: Context): Promise<string | null> {
  try {
    return path === '-' ? String(context.stdin) : await context.fs.readFile(context.fs.resolvePath(context.cwd, path));
  } catch {
    // Not there, or a directory: said by the command itself.
    return null;
  }
}
