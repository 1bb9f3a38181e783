/** Questions to the person at the terminal, one line each. */
import { createInterface } from 'node:readline/promises';

/** Whether a person is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

type LineOptions = { signal?: AbortSignal; history?: readonly string[]; onHistory?: (lines: string[]) => void };

/** Null: Ctrl-C or Ctrl-D, or `signal` was aborted. An interface for each line, so that Ctrl-C is a signal at other times. */
export async function askLine(question: string, { signal, history = [], onHistory }: LineOptions = {}): Promise<string | null> {
  // stdout is for results.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, history: [...history], historySize: 100 });
  if (onHistory) terminal.on('history', (lines) => onHistory([...lines]));
  const ended = new Promise<null>((resolve) => {
    terminal.once('SIGINT', () => resolve(null));
    terminal.once('close', () => resolve(null));
    signal?.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    terminal.close();
  }
}
