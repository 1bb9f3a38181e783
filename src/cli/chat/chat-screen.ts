/** What `moniker chat` shows of a turn: the text as it is written, and a line for each tool call and result. */
import type { SessionEvent, TurnAnswer } from '../../../client/src/index.ts';
import { terminalJson, terminalText } from '../../core/text/visible-text.ts';
import { inLine, styled } from '../output.ts';
import { cutToLength } from '../../core/text/utf8.ts';

const maxLineLength = 200;

export type Screen = { show(event: SessionEvent): void; finish(answer: TurnAnswer): void };

/** `write`: to the terminal, without a line end. */
export function createScreen(write: (text: string) => void): Screen {
  const calls = new Map<string, { name: string; canonical: string | null }>();
  let column = 0;
  let half = '';

  const text = (part: string): void => {
    // A character above U+FFFF, the end of a line and the tags of a flag may be cut between two events.
    const whole = half + part;
    half = /(?:[\ud800-\udbff]|\r|\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6}[\ud800-\udbff]?)$/u.exec(whole)?.[0] ?? '';
    const shown = terminalText(whole.slice(0, whole.length - half.length));
    if (shown === '') return;
    write(shown);
    column = shown.endsWith('\n') ? 0 : 1;
  };
  /** What did not continue. */
  const flush = (): void => {
    if (half === '') return;
    write(terminalText(half));
    half = '';
    column = 1;
  };
  const line = (shown: string): void => {
    flush();
    write(`${column > 0 ? '\n' : ''}${shown}\n`);
    column = 0;
  };

  return {
    show(event) {
      switch (event.type) {
        case 'text-delta':
          return text(event.text);
        case 'tool-input-start':
          calls.set(event.callId, { name: event.name, canonical: event.canonical });
          return;
        case 'tool-input-end':
          return line(renderCall('', calls.get(event.callId) ?? { name: '?', canonical: null }, event.arguments));
        case 'inner-call':
          return line(renderCall('  ', event, event.arguments));
        case 'tool-result': {
          const isOneOfSeveral = calls.size > 1;
          calls.delete(event.callId);
          // Results of calls that run side by side come in any order.
          if (isOneOfSeveral) line(styled('cyan', `  < ${inLine(event.name)}`));
          return line(renderResult('', event.isError, event.content));
        }
        case 'inner-result':
          return line(renderResult('  ', event.isError, event.content));
        case 'step-restart':
          return line(styled('dim', '[the step is repeated]'));
        case 'error':
          return line(styled('red', `error: ${String(event.problem.detail ?? event.problem.code)}`));
        default:
          return;
      }
    },
    finish({ status, reason, text: answer }) {
      flush();
      // Nothing was streamed, for example for the answer of an earlier request.
      if (column === 0 && answer === '' && status === 'completed') line(styled('dim', `[no text: ${reason}]`));
      if (column > 0) write('\n');
      column = 0;
      if (status !== 'completed') line(styled('dim', `[${status}: ${reason}]`));
    },
  };
}

function renderCall(indent: string, { name, canonical }: { name: string; canonical: string | null }, args: unknown): string {
  const tool = canonical === null || canonical === name ? name : `${name} → ${canonical}`;
  return styled('cyan', `${indent}  > ${inLine(tool)} `) + styled('dim', oneLine(terminalJson(args ?? {}, 0)));
}

function renderResult(indent: string, isError: boolean, content: readonly { type: string; text?: unknown }[]): string {
  const shown = content.map((block) => (typeof block.text === 'string' ? block.text : `[${block.type}]`)).join(' ');
  return styled(isError ? 'red' : 'dim', `${indent}    ${isError ? 'failed: ' : ''}${oneLine(terminalText(shown))}`);
}

function oneLine(text: string): string {
  return cutToLength(text.trim().replaceAll(/\s*\n\s*/g, ' | '), maxLineLength);
}
