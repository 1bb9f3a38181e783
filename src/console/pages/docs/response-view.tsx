/** The response of the tester. Its text is only ever shown as text. */
import type { Signal } from '@preact/signals';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import type { ExchangeState } from './exchange.ts';
import { statusTone } from './response-section.tsx';
import { jsonIn } from '../../text/json.ts';

export function ResponseView({ state }: { state: Signal<ExchangeState> }) {
  const exchange = state.value;
  const { phase, status, statusText, totalMs, firstByteMs, bytes, headers } = exchange;
  if (phase === 'idle') return null;
  const hasHeaders = status > 0;
  return (
    <section class="result" aria-label="Response">
      <p class="status-line" role="status">
        {hasHeaders && (
          <span class={`badge ${statusTone(status)}`}>
            {status} {statusText}
          </span>
        )}
        <span>{phaseText[phase]}</span>
        {hasHeaders && (
          <span class="muted">
            {Math.round(phase === 'receiving' ? firstByteMs : totalMs)} ms · {sizeText(bytes)}
          </span>
        )}
      </p>
      {phase === 'failed' && (
        <p class="error">The request failed: {exchange.error}. Check the connection and that the service is running.</p>
      )}
      {hasHeaders && (
        <>
          <details class="headers">
            <summary>{headers.length} headers</summary>
            <dl>
              {headers.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
          <ResponseBody exchange={exchange} />
        </>
      )}
    </section>
  );
}

const phaseText: Record<ExchangeState['phase'], string> = {
  idle: '',
  sending: 'Waiting for the response…',
  receiving: 'Receiving…',
  done: '',
  stopped: 'Stopped',
  failed: 'Failed',
};

function ResponseBody({ exchange }: { exchange: ExchangeState }) {
  const { kind, bytes, text, isCut, phase } = exchange;
  if (kind === 'events') return <EventList exchange={exchange} />;
  if (bytes === 0) return phase === 'receiving' ? null : <p class="muted">The body is empty.</p>;
  if (kind === 'binary') return <p class="muted">Binary content is not shown.</p>;
  const pretty = isCut || phase === 'receiving' ? null : prettyJson(text);
  return (
    <>
      {isCut && <p class="notice">Only the first {text.length.toLocaleString('en-US')} characters are shown.</p>}
      <div class="copy-corner">
        <CopyButton text={pretty ?? text} what="the body" />
      </div>
      <CodeBlock text={pretty ?? text} language={pretty === null ? 'text' : 'json'} label="Response body" />
    </>
  );
}

function EventList({ exchange: { events, eventCount, streamedText, isCut } }: { exchange: ExchangeState }) {
  return (
    <>
      {streamedText !== '' && (
        <>
          <h3>Text</h3>
          <p class="streamed">{streamedText}</p>
        </>
      )}
      <h3>
        {eventCount} {eventCount === 1 ? 'event' : 'events'}
      </h3>
      {isCut && <p class="notice">Only the first {events.length} events are shown.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <ol class="events" tabIndex={0} aria-label="Events">
        {events.map(({ id, event, data }, index) => (
          <li key={index}>
            <span class="event-name">
              {event === 'message' ? 'data' : event}
              {id !== '' && <span class="muted"> {id}</span>}
            </span>
            <code>{data}</code>
          </li>
        ))}
      </ol>
    </>
  );
}

/** null: not JSON, which is shown unchanged. */
function prettyJson(text: string): string | null {
  const value = jsonIn(text);
  return value === undefined ? null : JSON.stringify(value, null, 2);
}

function sizeText(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
