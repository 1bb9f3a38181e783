/** A state as a word with a dot, never by color alone. */

const tones: Readonly<Record<string, string>> = {
  ...{
    done: 'ok',
    completed: 'ok',
    delivered: 'ok',
    approved: 'ok',
    answered: 'ok',
    ran: 'ok',
    ok: 'ok',
    ready: 'ok',
    active: 'ok',
    'signed-in': 'ok',
    connected: 'ok',
    same: 'ok',
  },
  ...{
    failing: 'bad',
    unauthorized: 'bad',
    missing: 'bad',
    revoked: 'bad',
    held: 'warn',
    degraded: 'warn',
    'signed-out': 'warn',
    deleting: 'warn',
    different: 'warn',
    ended: 'warn',
    stopped: 'warn',
    unreadable: 'bad',
  },
  ...{ failed: 'bad', denied: 'bad', interrupted: 'bad', refused: 'bad', rejected: 'bad', dead: 'bad' },
  ...{ waiting: 'warn', pending: 'warn', expired: 'warn', outcome_unknown: 'warn', running: 'info', writing: 'info', queued: 'info' },
};

export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge state ${tones[state] ?? ''}`}>
      <i aria-hidden="true" />
      {state.replaceAll('_', ' ')}
    </span>
  );
}
