/** An example event, and what the draft of the webhook does with it. Nothing is stored and nothing runs. */
import { useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { Facts } from '../../parts/records/records.tsx';
import { TextField } from '../../parts/fields/fields.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import type { OpenWebhook, TrialEvent } from './webhook-draft.ts';

const delayMs = 250;

export function WebhookTrial({ webhook: { document, trial, outcome, tryDraft } }: { webhook: OpenWebhook }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const problem = useSignal<unknown>(null);
  const change = (part: Partial<TrialEvent>): void => {
    trial.value = { ...trial.value, ...part };
    clearTimeout(timer.current);
    timer.current = setTimeout(async () => {
      problem.value = null;
      const draft = document.draft.value;
      if (draft === null) return;
      try {
        await tryDraft(draft);
      } catch (error) {
        problem.value = error;
      }
    }, delayMs);
  };
  const { payload, event, headers } = trial.value;
  const result = outcome.value;
  return (
    <section class="trial" aria-label="Test">
      <h2>Test with an event</h2>
      <div class="fields two">
        <div class="fields">
          <TextField label="Payload" path="payload" isCode rows={8} value={payload} onInput={(text) => change({ payload: text })} />
          <TextField label="Event type" path="event" value={event} onInput={(text) => change({ event: text })} />
          <TextField label="Headers (JSON)" path="headers" isCode value={headers} onInput={(text) => change({ headers: text })} />
        </div>
        <div class="outcome" role="status">
          {result === null ? (
            <p class="muted">Trying…</p>
          ) : (
            <>
              <p>
                {result.reason === null ? (
                  <span class="badge ok">a turn would start</span>
                ) : (
                  <>
                    <span class="badge warn">{result.matches ? 'no turn: it would fail' : 'ignored'}</span> {visible(result.reason)}
                  </>
                )}
              </p>
              <Facts rows={[['Session key', result.sessionKey === null ? null : <code key="key">{visible(result.sessionKey)}</code>]]} />
              {result.input !== null && (
                <>
                  <h3>Input of the agent</h3>
                  <pre class="file">{visible(result.input)}</pre>
                </>
              )}
              {result.warnings.length > 0 && <p class="muted">Missing in this payload: {visible(result.warnings.join(', '))}</p>}
            </>
          )}
          {problem.value !== null && <ProblemView error={problem.value} />}
        </div>
      </div>
    </section>
  );
}
