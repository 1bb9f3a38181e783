/** Patterns of a workspace and texts that are built to be slow, in pairs. */
import { RedactionWork } from '../src/core/redaction/redaction-work.ts';

export const slowPatterns: readonly string[] = [
  '(?i)customer.{0,500}(name|mail)',
  '(?i)(customer|client|user).{0,300}(name|mail|phone)',
  '(a+)+b',
  '(x+x+)+y',
  '(?:a|aa)+c',
  'a[^x]*b|a',
  '.{1,900}x',
  '[a-z ]{1,1000}z',
  '(\\w+\\s){1,100}end',
  '(?s)c.*secret',
  '\\b\\w+@\\w+\\b',
  '\\pL{1,900}\\pN',
  '(?i)[a-z]{500}',
  '[a-z0-9]{32}',
  '(\\d{1,3}\\.){3}\\d{1,3}',
  '("[^"]*"\\s*,\\s*){1,100}]',
  '(?m)^\\s*[^#].{0,800}=$',
  'EMP-[0-9]{6}',
  'a',
  '(?:(?:x|y|c)?[a-z]?){300}!',
];

const prose =
  'The customer wrote to us about the order no. 4711 on 2024-05-01, and asked whether the delivery (see https://example.com/x?y=1) could be moved. ';

/** The unit that a text repeats. */
export const slowTexts: Readonly<Record<string, string>> = {
  customers: 'customer ',
  letters: 'aaaaaaaaaaaaaaax',
  prose,
  json: '{"id":12345,"name":"Widget","tags":["a","b"],"ip":"10.0.0.1","nested":{"ok":true,"customer":{"mail":null}}},',
  mixed: 'é😀 cust\u00f6mer 192.168.0.1 ',
};

/** A text in base64 would be skipped. */
export function textOf(unit: string, characters: number): string {
  return ` ${unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters)} `;
}

/** Records the largest step and the largest slice. */
export class RecordedWork extends RedactionWork {
  longestStep = 0;
  longestSlice = 0;
  slices = 1;
  total = 0;
  #slice = 0;

  override count(units: number): boolean {
    this.longestStep = Math.max(this.longestStep, units);
    this.total += units;
    this.#slice += units;
    this.longestSlice = Math.max(this.longestSlice, this.#slice);
    const isOver = super.count(units);
    if (isOver) {
      this.slices += 1;
      this.#slice = 0;
    }
    return isOver;
  }
}
