/** Wraps each command of the shell with yield points and a check of its input size, since the commands themselves do not yield. */
import type { Bash, Command } from 'just-bash/browser';
import { limits } from '../../core/limits/limits.ts';
import { duringCommand, type InvalidPattern } from './interpreter-hooks.ts';
import type { TimeSlices } from './time-slices.ts';
import { KB, MB } from '../../core/limits/units.ts';
import { cutToLength } from '../../core/text/utf8.ts';

/**
 * Lines of both files together, without their common beginning and end: each line of one is compared with each line of the other.
 */
const maxDiffLines = 4_000;
/** Input of one sort by keys, versions or sizes with units. */
const maxShellKeyedSortBytes = 2 * MB;
/** Input of one gzip, which compresses all of it at once. */
const maxShellGzipBytes = 3 * MB;
/** Input of one html-to-markdown, whose cost is quadratic in the depth of elements. */
const maxShellHtmlBytes = 256 * KB;
const maxShellHtmlDepth = 200;

type Context = Parameters<Command['execute']>[1];

/** Call before the first run. Throws if the interpreter no longer stores its commands as the pinned version does. */
export function wrapCommands(shell: Bash, turns: TimeSlices): void {
  const commands: unknown = Reflect.get(shell, 'commands');
  if (!(commands instanceof Map)) throw new Error('just-bash no longer stores its commands in a Map: update wrap-commands.ts');
  for (const command of commands.values()) wrapCommand(command as Command, turns);
}

function wrapCommand(command: Command, turns: TimeSlices): void {
  const execute = command.execute;
  command.execute = async (args, context) => {
    await turns.pass();
    const fault = (await sizeFault(command.name, args, context)) ?? (command.name === 'diff' ? await diffFault(args, context) : null);
    if (fault !== null) return { stdout: '', stderr: `${command.name}: ${fault}\n`, exitCode: 2 };
    const { value, invalid } = await duringCommand(() =>
      command.name === 'ls' ? listLiterally(args, context, execute) : execute(args, context),
    );
    // Stops the script after a pattern error, even if the command caught the error.
    await turns.pass();
    if (invalid !== null && isSilent(command.name, invalid.text))
      return { ...value, stderr: `${value.stderr}${command.name}: ${explain(invalid)}\n`, exitCode: 2 };
    return value;
  };
}

/** These commands treat an invalid pattern as one that does not match, so the script would continue with a wrong result. */
function isSilent(name: string, pattern: string): boolean {
  // A separator of awk may be any single character.
  return ['sed', 'awk', 'jq', 'find', 'expr'].includes(name) && !(name === 'awk' && pattern.length === 1);
}

function explain({ text, why }: InvalidPattern): string {
  return `pattern not supported by this shell: ${cutToLength(text, limits.maxQuotedLength)} (${why.replace(/^error parsing regexp: /, '')}); backreferences in patterns and lookaround are not available`;
}

/** Returns why a command may not process its input, or null. */
async function sizeFault(name: string, args: readonly string[], context: Context): Promise<string | null> {
  if (!takers.has(name)) return null;
  let bytes = String(context.stdin).length;
  // Every argument is treated as a possible file name. An option is not a file, and an argument that happens to name one adds little.
  for (const arg of args) bytes += await sizeOf(arg, context);
  const most = mostBytes(name, args);
  if (bytes > most) return `input too large for this shell (${bytes} bytes, maximum ${most}): split it (head -c, split, sed -n)`;
  if (name === 'html-to-markdown' && (await depthOf(args, context)) > maxShellHtmlDepth)
    return `elements nested deeper than ${maxShellHtmlDepth}`;
  return null;
}

/** The commands that process their whole input at once. Others stream or have other limits. */
const takers: ReadonlySet<string> = new Set(
  'sort uniq comm join paste cut tr rev tac nl fold expand unexpand column grep egrep fgrep rg sed awk jq wc diff od xxd strings base64 md5sum sha1sum sha256sum gzip gunzip zcat html-to-markdown'.split(
    ' ',
  ),
);

function mostBytes(name: string, args: readonly string[]): number {
  if (name === 'html-to-markdown') return maxShellHtmlBytes;
  if (name === 'gzip') return maxShellGzipBytes;
  const isKeyed = name === 'sort' && args.some((arg) => /^-[a-zA-Z]*[kVhM]/.test(arg) || /^--(key|human|version|month|sort)/.test(arg));
  return isKeyed ? maxShellKeyedSortBytes : limits.maxShellCommandBytes;
}

async function sizeOf(arg: string, context: Context): Promise<number> {
  if (arg === '-' || arg === '') return 0;
  try {
    const stat = await context.fs.stat(context.fs.resolvePath(context.cwd, arg));
    return stat.isFile ? stat.size : 0;
  } catch {
    // No such file: an option or a pattern, or the command reports it itself.
    return 0;
  }
}

/** Returns the nesting depth of elements. Elements that need no end tag are not counted. */
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
 * Arguments of `ls` are already expanded or were quoted, so each is a file name. just-bash's `ls` would expand them again with an engine
 * that backtracks (minimatch over native regular expressions): `*a*a*a*a…b` against one long name takes longer than any timeout.
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

/** Returns why two files are not compared line by line, or null. Read errors are left to the command. */
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
  return differing <= maxDiffLines
    ? null
    : `the files differ in ${differing} lines, more than ${maxDiffLines}: compare parts of them (sed -n), or use sort and comm`;
}

async function linesOf(path: string, context: Context): Promise<string[] | null> {
  return (await textOf(path, context))?.split('\n') ?? null;
}

async function textOf(path: string, context: Context): Promise<string | null> {
  try {
    return path === '-' ? String(context.stdin) : await context.fs.readFile(context.fs.resolvePath(context.cwd, path));
  } catch {
    // Missing, or a directory: the command reports it.
    return null;
  }
}
