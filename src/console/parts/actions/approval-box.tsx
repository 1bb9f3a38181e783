/** The decision on a call. The buttons have no shortcuts, so that nothing is approved by a key that was meant for something else. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { visible } from '../text/visible.ts';

type AskedEffect = components['schemas']['AskedEffect'];

type ApprovalBoxProps = {
  /** Of the call. */
  name: string;
  question: { reason: string; effects?: readonly AskedEffect[]; effectCount?: number; several?: boolean; expiresAt: number | string };
  /** Shows its own errors. */
  decide(decision: 'approve' | 'deny', remember: boolean): Promise<unknown>;
};

export function ApprovalBox({ name, question, decide }: ApprovalBoxProps) {
  const isSending = useSignal(false);
  const send = async (decision: 'approve' | 'deny', remember = false): Promise<void> => {
    isSending.value = true;
    await decide(decision, remember);
    isSending.value = false;
  };
  const { effects = [], effectCount = 0, several = effectCount > 1, reason, expiresAt } = question;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    <div class="ask" role="group" aria-label={`Decide on ${name}`}>
      <p class="reason">{visible(reason)}</p>
      {effectCount > 1 && (
        <ul class="effects">
          {effects.map(({ action, method, target }, index) => (
            <li key={index}>
              {method ?? action} {target !== null && <code>{visible(target)}</code>}
            </li>
          ))}
          {effectCount > effects.length && <li>and {effectCount - effects.length} more</li>}
        </ul>
      )}
      <div class="actions">
        <button type="button" class="primary" disabled={isSending.value} onClick={() => void send('approve')}>
          Approve once
        </button>
        <button type="button" class="danger" disabled={isSending.value} onClick={() => void send('deny')}>
          Deny
        </button>
        {!several && effects.every(isMemorable) && (
          <button
            type="button"
            class="plain"
            disabled={isSending.value}
            title="Adds a rule to the policy of the workspace. Requires a key with scope admin."
            onClick={() => void send('approve', true)}
          >
            Approve and remember
          </button>
        )}
        <span class="muted">Denied automatically on {new Date(expiresAt).toLocaleString()}</span>
      </div>
    </div>
  );
}

/** Whether a rule for this effect can be stored: not for what requires approval every time. */
function isMemorable({ kind, target }: AskedEffect): boolean {
  return kind !== 'always' && kind !== 'rule' && target !== null;
}
