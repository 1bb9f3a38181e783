/**
 * A direct call that requires approval, for `moniker call`: the call runs in a session, where it can be approved under its id, and is then
 * sent again (contract §8).
 */
import type { MonikerClient, components } from '../../client/src/index.ts';
import type { Json } from '../core/json/wire-value.ts';

type CallAnswer = components['schemas']['CallAnswer'];
export type AskedApproval = components['schemas']['Approval'];
type DirectCall = { toolset: string; name: string; arguments: Json; session?: string };

/** A script asks again if it would do something else than what was approved, at most 5 times. */
const maxRounds = 5;

/** Without a session the call gets one that is deleted afterwards. Returns the answer of the last attempt. */
export async function callWithApproval(
  client: MonikerClient,
  { toolset, session, ...call }: DirectCall,
  decide: (approval: AskedApproval) => Promise<'approve' | 'deny'>,
): Promise<CallAnswer> {
  const used = session ?? (await client.post('/v1/sessions', { body: { model: 'rehearsal/default', toolset } })).id;
  try {
    for (let round = 1; ; round += 1) {
      const answer = await client.post('/v1/toolsets/{toolset}/calls', { params: { path: { toolset } }, body: { ...call, session: used } });
      if ('verdict' in answer) throw new TypeError('A call was answered as a dry run');
      if (answer.code !== 'approval_required' || answer.callId === undefined || round > maxRounds) return answer;
      const path = { id: used, callId: answer.callId };
      const approval = await client.get('/v1/sessions/{id}/approvals/{callId}', { params: { path } });
      const decision = await decide(approval);
      const body = { decision, ...(approval.round !== undefined && { round: approval.round }) };
      await client.post('/v1/sessions/{id}/approvals/{callId}', { params: { path }, body });
      if (decision === 'deny') return answer;
    }
  } finally {
    // The call is done either way.
    if (session === undefined) await client.delete('/v1/sessions/{id}', { params: { path: { id: used } } }).catch(() => undefined);
  }
}
