/** The decisions of administrators about a definition of a server; the newest one can be undone. */
import type { components } from '../../../../client/src/index.ts';
import { announce } from '../../api/announce.ts';
import { visible } from '../../parts/text/visible.ts';
import type { ReviewSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

type Props = { state: OpenServer; subject: ReviewSubject; decisions?: components['schemas']['DefinitionDecision'][] | undefined };

export function Decisions({ state, subject, decisions = [] }: Props) {
  const { name } = subject;
  if (decisions.length === 0) return null;
  const [newest] = decisions;
  const undo = async (): Promise<void> => {
    if (await state.act(() => subject.decide('undo', { refId: newest?.refId }))) announce(`The decision about ${name} is undone`);
  };
  return (
    <ul aria-label={`Decisions about ${name}`}>
      {decisions.map(({ decision, refId, by, at, note, acknowledged = [] }, index) => (
        <li key={`${decision} ${refId}`}>
          {decision} by {visible(by)} on <time dateTime={at}>{at.slice(0, 10)}</time>: <code>{refId.slice(0, 12)}</code>
          {acknowledged.length > 0 && `, with ${acknowledged.join(', ')}`}
          {note !== undefined && <> “{visible(note)}”</>}{' '}
          {index === 0 && (
            <button type="button" aria-label={`Undo: ${name} was ${decision}`} onClick={() => void undo()}>
              Undo
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
