/**
 * The `bash` tool: runs a script over the session's files in an interpreter in this isolate. It starts no processes and has no access to a
 * host system.
 */
import { once } from '../core/memoize.ts';
import * as z from 'zod';
import { limits } from '../core/limits/limits.ts';
import { workspace, joinPath } from '../core/text/path.ts';
import { cutMiddle } from '../core/toolset/result-bound.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { type FileSystem, FileError } from '../ports/file-system.ts';
import type { ToolOutcome } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { requireFile } from './file-tools.ts';
import type { ScriptEnd } from './shell/run-shell-script.ts';
import { KB } from '../core/limits/units.ts';

/** The part of each stream that a model sees: head and tail, without the middle. */
const shownStdoutBytes = 40 * KB;
const shownStderrBytes = 8 * KB;
/** Slightly shorter than the timeout of a call, so that output printed before the timeout can still be returned. */
export const maxScriptMs = limits.toolTimeoutMs - 250;

export const bash = defineTool({
  name: 'bash',
  aliases: ['shell', 'exec'],
  description: `Runs a bash script over the files of this session and returns stdout, stderr and the exit code. Starts in /workspace. Files persist between calls; variables and cd do not. Has the usual text tools (grep, sed, awk, sort, jq, find, xargs, head, diff …), curl, and your other tools as \`tool <name> --json '{…}'\` (tool --list, tool --help <name>). Deleting or overwriting existing files, writing outside /workspace, and contacting new network hosts require user approval: write scratch files to $TMPDIR. No background jobs. File changes are saved together when the script ends or times out, and discarded when it is cancelled. Stops after ${limits.maxShellCommands} commands.`,
  input: z.object({
    command: z.string().min(1).describe('Script to run'),
    cwd: z.string().optional().describe('Start directory, relative to /workspace'),
    timeout: z.number().int().min(1).default(maxScriptMs).describe(`Timeout in milliseconds. Larger values are reduced to ${maxScriptMs}`),
  }),
  annotations: { title: 'Run a shell script', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ command, cwd, timeout }, context) {
    const { files, signal } = context;
    const timeoutMs = Math.min(timeout, maxScriptMs);
    // The script's files are an overlay until it ends: a script that waits for approval or is cancelled changes nothing.
    const overlay = files.overlay();
    const script = { command, directory: startDirectory(files, cwd), scratch, timeoutMs };
    await context.compute?.require();
    const ended = await (await shell()).runShellScript(script, overlay, context);
    if (ended.stopped === 'suspended') return { isError: false, content: [], suspended: true };
    // Without a session, saved output could not be read later.
    // Clients and code get all of it, as text and as data.
    const most = context.resultBytes === undefined ? shownStdoutBytes : context.resultBytes / 2;
    const isKept = context.results !== null && utf8Length(ended.stdout) > most;
    const kept = isKept ? saveOutput(overlay, scratch, context.idempotencyKey, ended.stdout) : null;
    if (!signal.aborted) overlay.commit();
    return toResult(ended, kept, timeoutMs, most);
  },
});

/** The interpreter is a third of the code, so it is loaded with the first script. */
const shell = once(() => import('./shell/run-shell-script.ts'));

/** Created on the first write. It lies inside /workspace, since writing scratch files requires no approval. */
const scratch = `${workspace}/.tmp`;

function startDirectory(files: FileSystem, cwd: string | undefined): string {
  const { path, stat } = requireFile(files, cwd ?? '.');
  if (stat.kind === 'file') throw new ToolFault(`cwd: ${path} is a file, not a directory.`);
  return path;
}

/** A non-zero exit code is a normal result; a script that was stopped is an error. `kept`: path of the file with the complete stdout. */
function toResult(ended: ScriptEnd, kept: string | null, timeoutMs: number, mostStdout: number): ToolOutcome {
  const stdout = cutMiddle(ended.stdout, mostStdout);
  const stderr = cutMiddle(plain(ended.stderr), shownStderrBytes);
  // The interpreter's own timeout may fire first and ends with exit code 124. The script's `timeout` command uses the same code without
  // printing a message.
  const timedOut =
    ended.stopped === 'timeout' || (ended.stopped === null && ended.exitCode === 124 && /execution (aborted|deadline|time)/i.test(stderr));
  const exitCode = timedOut ? 124 : ended.stopped === 'stalled' ? 126 : ended.exitCode;
  const limited = ended.stopped === 'stalled' || (ended.exitCode === 126 && /exceeded|too many/.test(stderr));
  const parts = [stdout.replace(/\n$/, '')];
  if (kept !== null)
    parts.push(`[All ${utf8Length(ended.stdout)} bytes of stdout are in ${kept}. Read parts of it with sed -n, grep, head or read_file.]`);
  if (stderr !== '') parts.push(`stderr:\n${stderr.replace(/\n$/, '')}`);
  parts.push(`exit code: ${exitCode}`);
  if (timedOut) parts.push(`Stopped after ${timeoutMs} ms. Split the work into smaller calls.`);
  if (ended.stopped === 'stalled') parts.push(`Stopped: ${ended.why ?? 'it did too much at once'}.`);
  else if (limited)
    parts.push('Stopped by a limit of the shell. Use fewer commands: text tools over whole files (awk, sed, grep) instead of loops.');
  return {
    isError: timedOut || limited,
    ...(timedOut && { code: 'timeout' as const }),
    ...(limited && { code: 'limit_reached' as const }),
    content: [{ type: 'text', text: parts.filter((part) => part !== '').join('\n') }],
    structuredContent: { stdout, stderr, exitCode, ...(kept !== null && { stdoutFile: kept }) },
  };
}

/** Removes the interpreter's configuration hints, which the model cannot use. */
function plain(stderr: string): string {
  return stderr
    .replace(/, increase executionLimits\.\w+/g, '')
    .replace(/command not available in browser environments\..*/g, 'command not available in this shell');
}

// Saves output that is too long to be shown as a file of the session, which the model can read with the usual tools. Only a few files are
// stored: a new one replaces the oldest.

/** Long outputs of a session that are stored as files; the oldest are deleted. */
export const maxStoredOutputs = 8;

/** `callId` names the file. Returns its path, or null if the session has no space for it. */
export function saveOutput(files: FileSystem, directory: string, callId: string, output: string): string | null {
  const path = joinPath(directory, `output-${callId.replace(/[^\w.-]/g, '_').slice(-100)}.txt`);
  try {
    files.makeDirectory(directory, { recursive: true });
    replaceOldestOutput(files, directory, path);
    files.write(path, new TextEncoder().encode(output));
    return path;
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/** Moves the oldest file to the new path. Nothing is deleted, since a deletion requires approval. */
function replaceOldestOutput(files: FileSystem, directory: string, path: string): void {
  if (files.stat(path) !== null) return;
  // Only files written by this module: moving or overwriting others requires approval.
  const isOurs = (name: string): boolean => /^output-.+\.txt$/.test(name) && files.stat(joinPath(directory, name))?.own === true;
  const kept = files.list(directory).filter(({ name, kind }) => kind === 'file' && isOurs(name));
  if (kept.length < maxStoredOutputs) return;
  const [oldest] = kept.sort((a, b) => a.modifiedAt - b.modifiedAt);
  if (oldest !== undefined) files.rename(joinPath(directory, oldest.name), path);
}
