/** Starts a replay of a suite, of a session, of one of its turns or of a request: what is replaced, and the limits. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useNames } from '../../api/load.ts';
import { useModels } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { withMembers } from '../../api/document.ts';
import { announce } from '../../api/announce.ts';
import { SendingForm } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf, query } from '../../router.ts';

type Request = components['schemas']['ReplayRequest'];
type With = NonNullable<Request['with']>;

export function StartForm() {
  const [session, turn, request] = ['session', 'turn', 'request'].map((name) => query.value.get(name));
  const suites = useNames((signal) => moniker.value.get('/v1/suites', { params: { query: { limit: 100 } }, signal }));
  const agents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const toolsets = useNames((signal) => moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } }, signal }));
  const models = useModels();
  const cases: Request['cases'] = request ? [{ request }] : session ? [{ session, ...(turn && { turn }) }] : undefined;
  const draft = useSignal<Request>(cases === undefined ? { suite: query.value.get('suite') ?? '' } : { cases });
  const edit = (next: Request) => (draft.value = next);
  const members = memberFields<Request>(draft.value, edit);
  const replace = (next: With) => edit(withMembers(draft.value, { with: next }));
  const replaced = memberFields<With>(draft.value.with ?? {}, replace, 'with.');
  // The form has names; documents that are drafts come from the command line.
  const named = memberFields<{ agent?: string; toolset?: string }>((draft.value.with ?? {}) as object, (next) => replace(next), 'with.');
  const send = async (): Promise<void> => {
    const { id } = await moniker.value.post('/v1/replays', { body: draft.value });
    announce('The replay has started');
    navigate(pathOf('replays', id));
  };
  return (
    <div class="editor page">
      <header class="head document-header">
        <h1>
          <a href={pathOf('replays')}>Replays</a> / Start
        </h1>
      </header>
      <p class="muted">
        The recorded inputs are sent again with what you choose here. Tool calls get their recorded results: nothing is called, and nothing
        changes. The models are real, and cost what they cost.
      </p>
      <SendingForm class="fields" send={send} submit="Start the replay" isIncomplete={draft.value.suite === ''}>
        {cases === undefined ? (
          members.requiredWord('suite', 'Suite', { suggestions: suites })
        ) : (
          <p>
            Replays{' '}
            {request ? (
              <>request {visible(request)}</>
            ) : (
              <>
                {turn ? `${turn} of ` : 'all turns of '}
                <a href={pathOf('sessions', session ?? null)}>session {visible((session ?? '').slice(0, 12))}</a>
              </>
            )}
            .
          </p>
        )}
        <fieldset class="fields">
          <legend>Replace</legend>
          <div class="fields two">
            {replaced.word('model', 'Model', {
              suggestions: models.filter((id) => !id.startsWith('agent/')),
              placeholder: 'as recorded',
            })}
            {!request && (
              <>
                {named.word('agent', 'Agent', {
                  hint: 'The newest version, or one such as support@3.',
                  suggestions: agents,
                  placeholder: 'as recorded',
                })}
                {named.word('toolset', 'Toolset', {
                  hint: 'The newest version, or one such as work@3.',
                  suggestions: toolsets,
                  placeholder: 'as recorded',
                })}
              </>
            )}
          </div>
          {replaced.text('instructions', 'Instructions', { rows: 4, placeholder: 'as recorded' })}
        </fieldset>
        <fieldset>
          <legend>Run</legend>
          <div class="fields two">
            {!request &&
              members.choice('unmatched', 'A call without a recorded result', [
                ['end', 'ends the comparison of its case'],
                ['run-safe', 'runs, if its tool is safe'],
              ])}
            {members.number('concurrency', 'Cases at the same time', { hint: '1 to 8.', placeholder: '2' })}
            {members.number('maxCost', 'Most cost (USD)', { hint: 'No further case starts once this is spent.', placeholder: 'no limit' })}
          </div>
        </fieldset>
      </SendingForm>
    </div>
  );
}
