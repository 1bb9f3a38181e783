/** The decisions of administrators about a tool of a server; the newest one can be undone. */
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { visible } from '../../parts/visible.ts';
import type { OpenServer } from './server-state.ts';

export function Decisions({ state, tool: { name, decisions = [] } }: { state: OpenServer; tool: components['schemas']['ServerTool'] }) {
  if (decisions.length === 0) return null;
  const [newest] = decisions;
  const undo = async (): Promise<void> => {
    const params = { path: { ...state.path, tool: name } };
    if (await state.act(() => moniker.value.post('/v1/servers/{server}/tools/{tool}/undo', { params, body: { refId: newest?.refId } })))
      announce(`The decision about ${name} is undone`);
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
