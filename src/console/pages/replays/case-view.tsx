/** Both sides of a case: calls aligned, arguments that differ marked, answers, facts and rules. */
import type { components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { StateBadge } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, setQuery } from '../../router.ts';
import { ruleText } from '../../text/replay-rules.ts';
import { partsText } from '../../session/fold-events.ts';
import { ComparedFacts } from './compared-facts.tsx';
import { markedJson } from './marked-json.ts';

type Detail = components['schemas']['ReplayCaseDetail'];
type Side = NonNullable<Detail['recordedSide']>;
type Call = Side['calls'][number];

/** Longer arguments and texts are in the export. */
const maxLines = 200;
const maxTextLength = 20_000;

export function CaseView({ replay: { id, suite, cases }, number }: { replay: components['schemas']['Replay']; number: number }) {
  const { data, error, reload } = useLoaded(
    (signal) =>
      moniker.value.get('/v1/replays/{replay}/cases/{number}', { params: { path: { replay: id, number: String(number) } }, signal }),
    [cases.done],
  );
  const open = (next: number) => () => setQuery({ case: String(next) });
  return (
    <div class="view wide">
      <header class="head">
        <h1>
          <a href={pathOf('replays')}>Replays</a> / <a href={pathOf('replays', id)}>{visible(suite?.name ?? id.slice(0, 12))}</a> / Case{' '}
          {number}
        </h1>
        {data !== null && <StateBadge state={data.status} />}
        <span class="grow" />
        <div class="actions">
          <button type="button" disabled={number <= 1} onClick={open(number - 1)}>
            Previous
          </button>
          <button type="button" disabled={number >= cases.total} onClick={open(number + 1)}>
            Next
          </button>
        </div>
      </header>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {data === null ? error === null && <p class="muted">Loading…</p> : <Sides found={data} />}
    </div>
  );
}

function Sides({ found }: { found: Detail }) {
  const { session, turn, request, reason, rules, recorded, replayed, input, recordedSide, replayedSide, isApproximate = false } = found;
  return (
    <>
      {reason !== null && <p class="notice warn">{visible(reason)}</p>}
      <p class="muted">
        {request !== null ? (
          <>Request {visible(request)}</>
        ) : (
          session !== null && (
            <>
              {turn !== null && `${turn.slice(0, 13)} of `}
              <a href={pathOf('sessions', session)}>session {session.slice(0, 12)}</a>
            </>
          )
        )}
      </p>
      {rules.length > 0 && (
        <ul class="rules">
          {rules.map(({ rule, passed, detail }, index) => (
            <li key={index}>
              <span class={`badge ${passed ? 'ok' : 'bad'}`}>{passed ? 'holds' : 'does not hold'}</span> {visible(ruleText(rule))}{' '}
              {detail !== null && <span class="muted">{visible(detail)}</span>}
            </li>
          ))}
        </ul>
      )}
      {input.length > 0 && (
        <>
          <h2>Input</h2>
          <pre class="file">{visible(cut(partsText(input)))}</pre>
        </>
      )}
      {recordedSide === null && replayedSide === null ? (
        <p class="notice warn">The content of this case is not available: its recording is gone, or it has not run.</p>
      ) : (
        <section class="sides" aria-label="Both sides">
          <div class="pair heads" aria-hidden="true">
            <strong>Recorded</strong>
            <strong>Replayed</strong>
          </div>
          {isApproximate && <p class="muted">There are many calls: the differences are correct, but may not be the fewest.</p>}
          <Calls found={found} />
          <h3>Answer</h3>
          <div class="pair">
            <Answer label="Recorded" side={recordedSide} />
            <Answer label="Replayed" side={replayedSide} />
          </div>
        </section>
      )}
      {(recorded !== null || replayed !== null) && (
        <>
          <h2>Facts</h2>
          <ComparedFacts recorded={recorded} replayed={replayed} />
        </>
      )}
    </>
  );
}

const labels = { same: 'same', changed: 'other arguments', added: 'only replayed', missing: 'only recorded' } as const;
const tones = { same: 'ok', changed: 'warn', added: 'info', missing: 'bad' } as const;

function Calls({ found: { differences, recordedSide, replayedSide } }: { found: Detail }) {
  if (differences.length === 0) return <p class="muted">No tool was called on either side.</p>;
  return (
    <ol class="aligned">
      {differences.map(({ kind, recorded, replayed, paths }, index) => (
        <li key={index} class={kind}>
          <span class={`badge ${tones[kind]}`}>{labels[kind]}</span>
          <div class="pair">
            <CallSide label="Recorded" call={callAt(recordedSide, recorded)} paths={paths} />
            <CallSide label="Replayed" call={callAt(replayedSide, replayed)} paths={paths} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function callAt(side: Side | null, index: number | null): Call | undefined {
  return index === null ? undefined : side?.calls[index];
}

function CallSide({ label, call, paths }: { label: string; call: Call | undefined; paths: readonly string[] }) {
  if (call === undefined)
    return (
      <div class="side-of none">
        <span class="which">{label}</span>
        <span class="muted">No such call</span>
      </div>
    );
  const { requested, canonical, arguments: given, isError, code } = call;
  const lines = markedJson(given, paths);
  return (
    <div class="side-of">
      <span class="which">{label}</span>
      <p>
        <strong>{visible(canonical ?? requested)}</strong>
        {canonical === null ? (
          <span class="error"> no such tool</span>
        ) : (
          canonical !== requested && <span class="muted"> called {visible(requested)}</span>
        )}
        {isError && canonical !== null && <span class="error"> {visible(code ?? 'failed')}</span>}
      </p>
      <pre class="marked">
        {lines
          .slice(0, maxLines)
          .map(({ text, isMarked }, index) =>
            isMarked ? <mark key={index}>{visible(text)}</mark> : <span key={index}>{visible(text)}</span>,
          )}
        {lines.length > maxLines && <span class="muted">{`… ${lines.length - maxLines} more lines`}</span>}
      </pre>
    </div>
  );
}

function Answer({ label, side }: { label: string; side: Side | null }) {
  return (
    <div class="side-of">
      <span class="which">{label}</span>
      {side === null ? (
        <span class="muted">Not available</span>
      ) : side.text === '' ? (
        <span class="muted">No text</span>
      ) : (
        <p class="answer">{visible(cut(side.text))}</p>
      )}
    </div>
  );
}

function cut(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (the rest is in the export)`;
}
