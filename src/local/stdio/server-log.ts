/** What a stdio server prints: one line each for the log of the launcher, and the last ones for a failed start. Bounded, without secrets. */
import { limits } from '../../core/limits/limits.ts';
import type { TextRedactor } from '../../core/redaction/redact-text.ts';
import { RedactionWork, runAtOnce } from '../../core/redaction/redaction-work.ts';
import { searchedValues, secretRedactor } from '../../core/redaction/secret-matcher.ts';
import { cutToLength } from '../../core/text/utf8.ts';

const maxLines = 20;
const maxLineLength = 500;
/** More lines of one server in a window are counted, not shown. */
const windowMs = 10_000;
const maxLinesPerWindow = 100;

/** `hidden`: values that are replaced. */
export function createServerLog(server: string, hidden: readonly string[], onLog: (line: string) => void) {
  let kept: string[] = [];
  const redact = secretRedactor(searchedValues(hidden, limits.minRedactedSecretLength));
  let windowEnds = 0;
  let inWindow = 0;
  const note = (line: string): void => onLog(`[${server}] ${line}`);
  const show = (line: string): void => {
    kept.push(line);
    if (kept.length > maxLines) kept.shift();
    note(line);
  };
  return {
    add(text: string) {
      const now = Date.now();
      if (now >= windowEnds) {
        if (inWindow > maxLinesPerWindow) note(`(${inWindow - maxLinesPerWindow} more lines are not shown)`);
        windowEnds = now + windowMs;
        inWindow = 0;
      }
      inWindow += 1;
      if (inWindow <= maxLinesPerWindow) show(toLine(text, redact));
    },
    /** Logs a line of the launcher itself. */
    note,
    /** The lines of the command, the newest last. */
    lines: (): string[] => [...kept],
    forget() {
      kept = [];
    },
  };
}

export type ServerLog = ReturnType<typeof createServerLog>;

/** Terminals interpret control characters, and a line may contain a part of a secret that was cut: hence first hidden, then cut. */
function toLine(text: string, redact: TextRedactor): string {
  const shown = runAtOnce(redact(text, new RedactionWork()));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
  const plain = shown.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
  return cutToLength(plain, maxLineLength);
}
