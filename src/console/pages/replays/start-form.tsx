/** Starts a replay of a suite, of a session, of one of its turns or of a request: what is replaced, and the limits. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { useNames } from '../../api/load.ts';
import { loadModels, models } from '../../api/models.ts';
import { moniker } from '../../api/moniker.ts';
import { withMembers } from '../../api/document.ts';
import { announce } from '../../parts/actions/announce.ts';
import { ChoiceField, NumberField, SendingForm, TextField } from '../../parts/fields/fields.tsx';
import { membersOf } from '../../parts/fields/members.ts';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf, query } from '../../router.ts';

type Request = components['schemas']['ReplayRequest'];
type With = NonNullable<Request['with']>;

export function StartForm() {
  const [session, turn, request] = ['session', 'turn', 'request'].map((name) => query.value.get(name));
  const suites = useNames((signal) => moniker.value.get('/v1/suites', { params: { query: { limit: 100 } }, signal }));
  const agents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const toolsets = useNames((signal) => moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } }, signal }));
  // Without the list, a model can still be typed.
  useEffect(() => void loadModels().catch(() => undefined), []);
  const cases: Request['cases'] = request ? [{ request }] : session ? [{ session, ...(turn && { turn }) }] : undefined;
  const draft = useSignal<Request>(cases === undefined ? { suite: query.value.get('suite') ?? '' } : { cases });
  const edit = (next: Request): void => {
    draft.value = next;
  };
  const members = membersOf<Request>(draft.value, edit);
  const replaced = membersOf<With>(draft.value.with ?? {}, (next) => edit(withMembers(draft.value, { with: next })), 'with.');
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
          <TextField label="Suite" suggestions={suites} {...members.requiredWord('suite')} />
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
            <TextField
              label="Model"
              suggestions={models.value.filter((id) => !id.startsWith('agent/'))}
              placeholder="as recorded"
              {...replaced.word('model')}
            />
            {!request && (
              <>
                <TextField
                  label="Agent"
                  hint="The newest version, or one such as support@3."
                  suggestions={agents}
                  placeholder="as recorded"
                  {...textOf(replaced, 'agent')}
                />
                <TextField
                  label="Toolset"
                  hint="The newest version, or one such as work@3."
                  suggestions={toolsets}
                  placeholder="as recorded"
                  {...textOf(replaced, 'toolset')}
                />
              </>
            )}
          </div>
          <TextField label="Instructions" rows={4} placeholder="as recorded" {...replaced.text('instructions')} />
        </fieldset>
        <fieldset>
          <legend>Run</legend>
          <div class="fields two">
            {!request && (
              <ChoiceField
                label="A call without a recorded result"
                {...members.choice('unmatched', [
                  ['end', 'ends the comparison of its case'],
                  ['run-safe', 'runs, if its tool is safe'],
                ])}
              />
            )}
            <NumberField label="Cases at the same time" hint="1 to 8." placeholder="2" {...members.number('concurrency')} />
            <NumberField
              label="Most cost (USD)"
              hint="No further case starts once this is spent."
              placeholder="no limit"
              {...members.number('maxCost')}
            />
          </div>
        </fieldset>
      </SendingForm>
    </div>
  );
}

/** The form has names; documents that are drafts come from the command line. */
function textOf(members: ReturnType<typeof membersOf<With>>, name: 'agent' | 'toolset') {
  return members.word(name as never);
}
