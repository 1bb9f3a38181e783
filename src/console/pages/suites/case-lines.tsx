/** The cases of a suite as lines of text, which can be pasted. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { TextField } from '../../parts/fields/fields.tsx';
import { caseFromLine, caseLine } from './case-text.ts';

type SuiteCase = components['schemas']['SuiteCase'];

/** What is typed stays as it is typed. A line that is unchanged keeps the rules of its case, which are in the document. */
export function CaseLines({ cases, onInput }: { cases: readonly SuiteCase[]; onInput(cases: SuiteCase[]): void }) {
  const text = useSignal(cases.map(caseLine).join('\n'));
  return (
    <TextField
      label="Cases"
      path="cases"
      isCode
      rows={8}
      hint="One a line: the id of a session for all of its turns, of a session and a turn, or request and its id. Rules of single cases are in the document below."
      placeholder={'0a1b2c3d\n0a1b2c3d turn_2\nrequest 4e5f6a7b'}
      value={text.value}
      onInput={(typed) => {
        text.value = typed;
        const known = new Map(cases.map((one) => [caseLine(one), one]));
        onInput(typed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [known.get(line.trim()) ?? caseFromLine(line)])));
      }}
    />
  );
}
