/** A call as the log has it: names, arguments, times, decision and result. */
import { Facts } from '../../parts/facts.tsx';
import { Sheet } from '../../parts/sheet.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { visible } from '../../parts/visible.ts';
import { type Call, partsText } from '../../session/fold-events.ts';
import { duration } from '../../text/format.ts';

/** Longer text is in the chat and in the export. */
const maxTextLength = 20_000;

export function CallSheet({ call, onClose }: { call: Call; onClose(): void }) {
  const { name, canonical, via, state, decision, code, segments, arguments: given, argumentText, result, callId } = call;
  const total = (kind: 'run' | 'wait') =>
    segments.reduce((ms, segment) => ms + (segment.kind === kind ? (segment.to ?? Date.now()) - segment.from : 0), 0);
  const text = result === null ? null : partsText(result);
  return (
    <Sheet title={<code>{visible(name)}</code>} onClose={onClose}>
      <Facts
        rows={[
          ['State', <StateBadge key="state" state={state} />],
          ['Tool', canonical === null ? null : <code key="tool">{visible(canonical)}</code>],
          ['Found by', via],
          ['Code', code === null ? null : <code key="code">{visible(code)}</code>],
          ['Decision', decision === null ? null : `${decision.decision} by ${decision.by}`],
          ['Run time', duration(total('run'))],
          ['Waited', total('wait') === 0 ? null : duration(total('wait'))],
          ['Call', <code key="id">{visible(callId)}</code>],
        ]}
      />
      <h3>Arguments</h3>
      <pre class="file">{visible((given === null ? argumentText : JSON.stringify(given, null, 2)).slice(0, maxTextLength))}</pre>
      <h3>Result</h3>
      {text === null ? <p class="muted">None yet.</p> : <pre class="file">{visible(text.slice(0, maxTextLength))}</pre>}
    </Sheet>
  );
}
