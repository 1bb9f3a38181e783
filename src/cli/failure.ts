/**
 * How commands fail: what is wrong and what to do, one line each on stderr, never a stack. The exit codes are part of the interface
 * (docs/cli.md).
 */
import { CommanderError } from 'commander';
import { MonikerError } from '../../client/src/index.ts';
import { printError } from '../local/printing.ts';
import { StartFailure } from '../local/launch/start-failure.ts';
import { inLine } from './output.ts';
import { withSingleStops } from '../core/text/sentence.ts';

export const exitCodes = { success: 0, failure: 1, usage: 2 } as const;

export class CommandFailure extends Error {
  override name = 'CommandFailure';
  readonly advice: string;
  readonly exitCode: number;

  /** `advice`: what to do, one sentence. */
  constructor(what: string, advice: string, exitCode: number = exitCodes.failure) {
    super(what);
    this.advice = advice;
    this.exitCode = exitCode;
  }
}

/** Prints the error and returns the exit code. */
export function reportFailure(error: unknown): number {
  // commander has printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  const { message, advice, exitCode } = describeFailure(error);
  // Further lines are indented: text of others must not look like the advice.
  const shown = withSingleStops(`error: ${message.replaceAll('\n', '\n  ')}`);
  printError(advice === '' ? shown : `${shown}\n${inLine(advice)}`);
  return exitCode;
}

type Failure = Pick<CommandFailure, 'message' | 'advice' | 'exitCode'>;

export function describeFailure(error: unknown): Failure {
  const failed = (message: string, advice: string): Failure => ({ message, advice, exitCode: exitCodes.failure });
  if (error instanceof CommandFailure) return error;
  if (error instanceof StartFailure) return failed(error.message, '');
  if (error instanceof MonikerError) {
    const issues = error.issues.map(({ path, message }) => `\n  ${path}: ${message}`).join('');
    // The detail of a single issue names it.
    return failed(error.issues.length > 1 ? `${error.issues.length} values are not valid:${issues}` : error.detail, serviceAdvice(error));
  }
  // `fetch` rejects with a TypeError whose cause says why.
  if (error instanceof TypeError && error.cause instanceof Error) {
    const { code = '', message } = error.cause as NodeJS.ErrnoException; // System errors carry a code.
    return failed(
      `The service cannot be reached: ${message || code}.`,
      'Start it with `moniker start`, or pass its address with --url. `moniker doctor` checks both.',
    );
  }
  // Node's text names no folder for a failed write.
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
    return failed(
      'The disk is full: nothing more can be written.',
      'Free some space, or choose a folder of another disk: MONIKER_DATA_DIR=…',
    );
  return failed(messageOf(error), '');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Most details of the service say themselves what to do. */
function serviceAdvice({ code, requestId }: MonikerError): string {
  if (code === 'unauthenticated')
    return 'Pass the key of this service with --key or MONIKER_KEY. `moniker doctor` shows which key is used.';
  if (code === 'unexpected_response') return 'Check --url: it must be the address of a Moniker service.';
  if (code === 'internal') return `See \`moniker logs\`${requestId === null ? '' : `, request ${requestId}`}.`;
  return '';
}
