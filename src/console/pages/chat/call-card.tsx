/** One call: the name that the model used, the tool that it is, arguments, result, nested calls, and what it waits for. */
import { useSignal } from '@preact/signals';
import { StateBadge } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';
import { type Call, partsText } from '../../session/fold-events.ts';
import { duration } from '../../text/format.ts';
import { QuestionForm } from './question-form.tsx';

const viaText: Readonly<Record<string, string>> = {
  wire: 'by its name',
  canonical: 'by its canonical name',
  alias: 'by alias',
  own: 'by its own name',
  folded: 'by a similar spelling',
};

/** Longer results are cut here; the Events tab and the API have all of it. */
const maxShown = 20_000;

type CallProps = { session: ChatSession; call: Call; act(work: () => Promise<unknown>): Promise<boolean> };

export function CallCard({ session, call, act }: CallProps) {
  const isOpen = useSignal(true);
  const { name, canonical, via, state, code, progress, inner } = call;
  const runMs = call.segments.reduce((ms, { kind, from, to }) => ms + (kind === 'run' && to !== null ? to - from : 0), 0);
  const isEnded = state === 'done' || state === 'failed';
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    <div role="group" class={`call ${state}`} aria-label={`Call of ${name}`}>
      <header>
        <button type="button" class="disclose" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          <span class="requested">{visible(name)}</span>
          {canonical === null ? (
            <span class="badge bad">no such tool</span>
          ) : (
            <>
              <span aria-hidden="true">→</span>
              <span class="visually-hidden"> is </span>
              <span class="canonical">{visible(canonical)}</span>
            </>
          )}
          {via !== null && <span class="via">{viaText[via] ?? via}</span>}
        </button>
        {isEnded && <span class="ms">{duration(runMs)}</span>}
        <StateBadge state={state} />
      </header>
      {isOpen.value && (
        <div class="body">
          <Arguments call={call} />
          {progress !== null && <Progress {...progress} />}
          {inner.map((one) => (
            <CallCard key={one.callId} session={session} call={one} act={act} />
          ))}
          {call.result !== null && <Result call={call} code={code} />}
        </div>
      )}
      {call.question !== null && <QuestionForm key={questionKey(call)} session={session} call={call} question={call.question} act={act} />}
    </div>
  );
}

function questionKey({ question }: Call): number {
  return question?.id ?? 0;
}

function Arguments({ call }: { call: Call }) {
  const entries = Object.entries(call.arguments ?? {});
  if (call.arguments === null) return <pre>{visible(call.argumentText || '…')}</pre>;
  if (entries.length === 0) return <p class="muted none">No arguments</p>;
  return (
    <dl aria-label="Arguments">
      {entries.map(([key, value]) => (
        <div key={key}>
          <dt>{visible(key)}</dt>
          <dd>{visible(typeof value === 'string' ? value : JSON.stringify(value, null, 1))}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ call, code }: { call: Call; code: string | null }) {
  const text = partsText((call.result ?? []) as { type: string }[]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div role="group" class={call.state === 'done' ? 'result' : 'result bad'} tabIndex={0} aria-label={`Result of ${call.name}`}>
      <pre>
        {code !== null && <strong>{code}: </strong>}
        {visible(text.slice(0, maxShown))}
        {text.length > maxShown && `\n… and ${text.length - maxShown} more characters`}
      </pre>
    </div>
  );
}

function Progress({ value, total, message }: { value: number; total: number | null; message: string }) {
  return (
    <p class="progress">
      <progress value={total === null ? undefined : value} max={total ?? undefined} aria-label="Progress" />
      <span>{visible(message || `${value}${total === null ? '' : ` of ${total}`}`)}</span>
    </p>
  );
}
