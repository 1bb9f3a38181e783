/** A call that waits: what it would do, who asked, and the decision. Questions of servers and calls of clients are answered in their chat. */
import { useSignal } from '@preact/signals';
import { decideItem, type InboxItem, refreshInbox } from '../../api/inbox.ts';
import { useAttempt, useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ApprovalBox, type ChosenDecision } from '../../parts/actions/approval-box.tsx';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';

type PendingCardProps = { item: InboxItem; onSettled(text: string): void; onProblem(error: unknown): void };

const waits = { input: 'A server asks for input.', 'client-tool': 'A client has to run this call.' } as const;

export function PendingCard({ item, onSettled, onProblem }: PendingCardProps) {
  const { session, callId, kind, canonical, reason, agent, trigger, askedAt } = item;
  const name = canonical ?? callId;
  return (
    <article class="call waiting" aria-label={`Question about ${name}`}>
      <header>
        <code class="canonical">{visible(name)}</code>
        <span class="via">
          {trigger !== undefined && (
            <>
              by {trigger.kind} <a href={pathOf(`${trigger.kind}s`, trigger.name)}>{visible(trigger.name)}</a>,{' '}
            </>
          )}
          {agent !== undefined && <>agent {visible(agent)}, </>}
          asked <Time iso={askedAt} />
        </span>
        <span class="grow" />
        <a href={pathOf('chat', session)}>Open the chat</a>
      </header>
      {kind === 'approval' ? (
        <Approval item={item} name={name} onSettled={onSettled} onProblem={onProblem} />
      ) : (
        <div class="ask">
          <p class="reason">{visible(reason)}</p>
          <p class="actions">
            {waits[kind]}{' '}
            <a class="button" href={pathOf('chat', session)}>
              Answer in the chat
            </a>
          </p>
        </div>
      )}
    </article>
  );
}

function Approval({ item, name, onSettled, onProblem }: PendingCardProps & { name: string }) {
  const { session, callId, round } = item;
  const path = { id: session, callId };
  const { data, error, reload } = useLoaded(
    (signal) => moniker.value.get('/v1/sessions/{id}/approvals/{callId}', { params: { path }, signal }),
    [session, callId, round],
  );
  if (error !== null) return <ProblemView error={error} retry={() => void reload()} />;
  if (data === null) return <p class="ask muted">Loading…</p>;
  const decide = async (decided: ChosenDecision): Promise<void> => {
    onProblem(null);
    try {
      await decideItem(item, decided);
      onSettled(`${name}: ${decided.decision === 'approve' ? 'approved' : 'denied'}`);
    } catch (thrown) {
      onProblem(thrown);
      // Somebody else may have decided meanwhile, or the call has other effects now.
      await refreshInbox();
      void reload();
    }
  };
  return (
    <>
      <div class="body">
        <dl>
          {Object.entries(data.arguments).map(([argument, value]) => (
            <div key={argument}>
              <dt>{visible(argument)}</dt>
              <dd>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</dd>
            </div>
          ))}
        </dl>
        <PhoneLink path={path} />
      </div>
      <ApprovalBox name={name} question={data} decide={decide} />
    </>
  );
}

function PhoneLink({ path }: { path: { id: string; callId: string } }) {
  const link = useSignal<{ url: string; expiresAt: string } | null>(null);
  const { problem, attempt } = useAttempt();
  const create = () =>
    attempt(async () => {
      link.value = await moniker.value.post('/v1/sessions/{id}/approvals/{callId}/link', { params: { path } });
    });
  if (link.value !== null)
    return (
      <p class="phone-link" role="status">
        <code>{link.value.url}</code> <CopyButton text={link.value.url} what="the link" />
        <span class="muted">Anyone who has it can decide this call once, until {new Date(link.value.expiresAt).toLocaleString()}.</span>
      </p>
    );
  return (
    <>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <p class="phone-link">
        <button type="button" class="link" onClick={() => void create()}>
          Create a link to decide on a phone
        </button>
      </p>
    </>
  );
}
