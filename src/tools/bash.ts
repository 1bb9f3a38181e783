/** A shell over the session's files: an interpreter in this isolate, with no processes and no host behind it. */
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { workspace } from '../core/path.ts';
import { cutMiddle } from '../core/result-bound.ts';
import { utf8Length } from '../core/utf8.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { ToolAnswer } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { notFound, sessionPath } from './session-path.ts';
import { keepOutput } from './shell/kept-output.ts';
import { runScript, type ScriptEnd } from './shell/run-script.ts';

export const bash = defineTool({
  name: 'bash',
  aliases: ['shell'],
  description: `Runs a bash script over the files of this session and answers stdout, stderr and the exit code. Starts in /workspace; files stay for the next call, variables and cd do not. Has the usual text tools (grep, sed, awk, sort, jq, find, xargs, head, diff …), curl, and your other tools as \`tool <name> --json '{…}'\` (tool --list, tool --help <name>). Deleting or overwriting files that were there before, writing outside /workspace and new network hosts need a person's approval: put scratch files into $TMPDIR. No background jobs. Changes of files are kept together when the script ends or its time is up, and not at all when it is cancelled. Stops after ${limits.maxShellCommands} commands.`,
  input: z.object({
    command: z.string().min(1).describe('The script'),
    cwd: z.string().optional().describe('Directory to start in; relative to /workspace'),
    timeout: z
      .number()
      .int()
      .min(1)
      .max(600_000)
      .default(limits.toolTimeoutMs)
      .describe(`Milliseconds; more than ${limits.toolTimeoutMs} counts as ${limits.toolTimeoutMs}`),
  }),
  annotations: { title: 'Run a shell script', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ command, cwd, timeout }, context) {
    const { files, signal } = context;
    // A little less than the call's own time, so that what was printed until then is not lost with it.
    const timeoutMs = Math.min(timeout, limits.toolTimeoutMs - 250);
    // A script that has to ask, or that nobody waits for any more, has done nothing: its files are an overlay until it ends.
    const overlay = files.overlay();
    const script = { command, directory: startDirectory(files, cwd), scratch, timeoutMs };
    const ended = await runScript(script, overlay, context);
    if (ended.stopped === 'suspended') return { isError: false, content: [], suspended: true };
    // Without a session nobody could read it later.
    const isKept = context.results !== null && utf8Length(ended.stdout) > limits.shownStdoutBytes;
    const kept = isKept ? keepOutput(overlay, scratch, context.idempotencyKey, ended.stdout) : null;
    if (!signal.aborted) overlay.commit();
    return toResult(ended, kept, timeoutMs);
  },
});

/** Made by the first write to it. Inside, since scratch files are nothing to ask a person about. */
const scratch = `${workspace}/.tmp`;

function startDirectory(files: FileSystem, cwd: string | undefined): string {
  const path = sessionPath(cwd ?? '.');
  const stat = files.stat(path);
  if (stat === null) throw notFound(files, path);
  if (stat.kind === 'file') throw new ToolFault(`cwd: ${path} is a file, not a directory.`);
  return path;
}

/** An exit code is an answer, not a fault of the call; a script that was stopped is. `kept`: the file that has all of stdout. */
function toResult(ended: ScriptEnd, kept: string | null, timeoutMs: number): ToolAnswer {
  const stdout = cutMiddle(ended.stdout, limits.shownStdoutBytes);
  const stderr = cutMiddle(plain(ended.stderr), limits.shownStderrBytes);
  // The interpreter's own clock may be first, and says so with this code; `timeout` of the script has it too, silently.
  const timedOut =
    ended.stopped === 'timeout' || (ended.stopped === null && ended.exitCode === 124 && /execution (aborted|deadline|time)/i.test(stderr));
  const exitCode = timedOut ? 124 : ended.stopped === 'stalled' ? 126 : ended.exitCode;
  const limited = ended.stopped === 'stalled' || (ended.exitCode === 126 && /exceeded|too many/.test(stderr));
  const parts = [stdout.replace(/\n$/, '')];
  if (kept !== null)
    parts.push(`[All ${utf8Length(ended.stdout)} bytes of stdout are in ${kept}: read parts of it with sed -n, grep, head or read_file.]`);
  if (stderr !== '') parts.push(`stderr:\n${stderr.replace(/\n$/, '')}`);
  parts.push(`exit code: ${exitCode}`);
  if (timedOut) parts.push(`Stopped after ${timeoutMs} ms. Do less in one call.`);
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

/** Without the interpreter's hints to whoever configures it, which the model cannot. */
function plain(stderr: string): string {
  return stderr
    .replace(/, increase executionLimits\.\w+/g, '')
    .replace(/command not available in browser environments\..*/g, 'command not available in this shell');
}
