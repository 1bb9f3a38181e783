/** A shell over the session's files: an interpreter in this isolate, with no processes, no network and no host behind it. */
import { Bash } from 'just-bash/browser';
import { z } from 'zod';
import { limits } from '../core/limits.ts';
import { workspace } from '../core/path.ts';
import { cutMiddle } from '../core/result-bound.ts';
import type { ToolResult } from '../core/tool.ts';
import type { FileSystem } from '../ports/file-system.ts';
import { createBashFileSystem } from './bash-file-system.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { notFound, sessionPath } from './session-path.ts';

export const bash = defineTool({
  name: 'bash',
  aliases: ['shell'],
  description: `Runs a bash script over the files of this session and answers stdout, stderr and the exit code. Starts in /workspace; files stay for the next call, variables and cd do not. Has the usual text tools (grep, sed, awk, sort, jq, find, xargs, head, diff …) and no network: use http_request for that. Writing outside /workspace needs a person's approval: put scratch files into $TMPDIR. Changes of files are kept together when the script ends or its time is up, and not at all when it is cancelled. Stops after ${limits.maxShellCommands} commands.`,
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
  annotations: { title: 'Run a shell script', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async run({ command, cwd, timeout }, { files, signal }) {
    // A little less than the call's own time, so that what was printed until then is not lost with it.
    const timeoutMs = Math.min(timeout, limits.toolTimeoutMs - 250);
    // A script that has to ask, or that nobody waits for any more, has done nothing: its files are an overlay until it ends.
    const overlay = files.overlay();
    const shell = new Bash({
      fs: createBashFileSystem(overlay),
      cwd: startDirectory(files, cwd),
      env: { HOME: workspace, TMPDIR: scratch, LANG: 'C.UTF-8' },
      executionLimitProfile: 'hardened',
      executionLimits: {
        maxCommandCount: limits.maxShellCommands,
        maxLoopIterations: limits.maxShellLoops,
        maxOutputSize: limits.maxShellOutputBytes,
        // Behind our own timer, which is the one that knows what came of it; for a script that lets no timer fire.
        maxExecutionTimeMs: timeoutMs + interpreterGraceMs,
      },
      // It patches globals of the whole isolate while a script runs, which other requests would feel.
      defenseInDepth: false,
    });
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error(`stopped after ${timeoutMs} ms`)), timeoutMs);
    try {
      // In a subshell, because only there the interpreter survives a redirection that cannot be opened (no room left, a
      // file in the way): the script still ends, but what it printed until then is kept.
      const ended = await shell.exec(`(\n${command}\n)`, { signal: AbortSignal.any([signal, deadline.signal]) });
      if (!signal.aborted) overlay.commit();
      return toResult(ended, deadline.signal.aborted, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  },
});

const interpreterGraceMs = 1_000;

/** Made by the first write to it. Inside, since scratch files are nothing to ask a person about. */
const scratch = `${workspace}/.tmp`;

function startDirectory(files: FileSystem, cwd: string | undefined): string {
  const path = sessionPath(cwd ?? '.');
  const stat = files.stat(path);
  if (stat === null) throw notFound(files, path);
  if (stat.kind === 'file') throw new ToolFault(`cwd: ${path} is a file, not a directory.`);
  return path;
}

type Ended = { stdout: string; stderr: string; exitCode: number };

/** An exit code is an answer, not a fault of the call; a script that was stopped is. */
function toResult(ended: Ended, aborted: boolean, timeoutMs: number): ToolResult {
  const stdout = cutMiddle(ended.stdout, limits.shownStdoutBytes);
  const stderr = cutMiddle(plain(ended.stderr), limits.shownStderrBytes);
  // The interpreter's own clock may be first, and says so with this code; `timeout` of the script has it too, silently.
  const timedOut = aborted || (ended.exitCode === 124 && /execution (aborted|deadline|time)/i.test(stderr));
  const exitCode = timedOut ? 124 : ended.exitCode;
  const limited = ended.exitCode === 126 && /exceeded|too many/.test(stderr);
  const parts = [stdout.replace(/\n$/, '')];
  if (stderr !== '') parts.push(`stderr:\n${stderr.replace(/\n$/, '')}`);
  parts.push(`exit code: ${exitCode}`);
  if (timedOut) parts.push(`Stopped after ${timeoutMs} ms. Do less in one call.`);
  if (limited)
    parts.push('Stopped by a limit of the shell. Use fewer commands: text tools over whole files (awk, sed, grep) instead of loops.');
  return {
    isError: timedOut || limited,
    ...(timedOut && { code: 'timeout' }),
    ...(limited && { code: 'limit_reached' }),
    content: [{ type: 'text', text: parts.filter((part) => part !== '').join('\n') }],
    structuredContent: { stdout, stderr, exitCode },
  };
}

/** Without the interpreter's hints to whoever configures it, which the model cannot. */
function plain(stderr: string): string {
  return stderr
    .replace(/, increase executionLimits\.\w+/g, '')
    .replace(/command not available in browser environments\..*/g, 'command not available in this shell');
}
