/** The decision on a call. The buttons have no shortcuts, so that nothing is approved by a key that was meant for something else. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { bound } from '../fields/controls.tsx';
import { visible } from '../text/visible.ts';

type AskedEffect = components['schemas']['AskedEffect'];

type ApprovalBoxProps = {
  /** Of the call. */
  name: string;
  question: { reason: string; effects?: readonly AskedEffect[]; effectCount?: number; several?: boolean; expiresAt: number | string };
  /** Shows its own errors. */
  decide(decided: ChosenDecision): Promise<unknown>;
};
export type ChosenDecision = Pick<components['schemas']['DecisionRequest'], 'decision' | 'reason' | 'remember'>;

export function ApprovalBox({ name, question, decide }: ApprovalBoxProps) {
  const isSending = useSignal(false);
  const reason = useSignal('');
  const { effects = [], effectCount = 0, several = effectCount > 1, expiresAt } = question;
  const toHosts = effectCount > 0 && effects.every(({ kind }) => kind === 'network');
  // What requires approval every time cannot be remembered.
  const isMemorable = toHosts || !(several || effects.some(({ kind, target }) => kind === 'always' || kind === 'rule' || target === null));
  const choice = (label: string, kind: string, decision: ChosenDecision['decision'], remember?: ChosenDecision['remember']) => (
    <button
      type="button"
      class={kind}
      disabled={isSending.value}
      onClick={async () => {
        isSending.value = true;
        const why = reason.value.trim();
        await decide({ decision, ...(remember && { remember }), ...(why !== '' && { reason: why }) });
        isSending.value = false;
      }}
    >
      {label}
    </button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    <div class="ask" role="group" aria-label={`Decide on ${name}`}>
      <p class="reason">{visible(question.reason)}</p>
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
      <label>
        Reason, which the model reads after a denial
        <input maxLength={1000} autocomplete="off" {...bound(reason)} />
      </label>
      <div class="actions">
        {choice(toHosts ? 'Approve' : 'Approve once', 'primary', 'approve')}
        {choice('Deny', 'danger', 'deny')}
        {isMemorable && choice('Approve for this session', 'plain', 'approve', 'session')}
        {/* Requires an administrator. */}
        {isMemorable && !toHosts && choice('Approve and remember', 'plain', 'approve', true)}
        <span class="muted">
          {toHosts && 'Admins make the host known. '}
          Denied automatically on {new Date(expiresAt).toLocaleString()}
        </span>
      </div>
    </div>
  );
}
