/** Fields that webhooks and schedules share: who runs the turns, and where messages about them are sent. */
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { memberFields } from './member-fields.tsx';

type TriggerDraft = { agent: string; description?: string; paused?: boolean; callbackUrl?: string; callbackSecret?: string };
type TriggerFieldsProps<Draft> = { draft: Draft; edit(next: Draft): void };

export function AgentFields<Draft extends TriggerDraft>({ draft, edit }: TriggerFieldsProps<Draft>) {
  const agents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const members = memberFields<TriggerDraft>(draft, (next) => edit(next as Draft));
  return (
    <>
      {members.requiredWord('agent', 'Agent', {
        hint: 'Runs the turns. Calls that require approval wait in the inbox.',
        suggestions: agents,
      })}
      {members.text('description', 'Description')}
    </>
  );
}

type CallbackProps<Draft> = TriggerFieldsProps<Draft> & { hasSecret: boolean; noun: string };

export function CallbackFields<Draft extends TriggerDraft>({ draft, edit, hasSecret, noun }: CallbackProps<Draft>) {
  const members = memberFields<TriggerDraft>(draft, (next) => edit(next as Draft));
  return (
    <fieldset class="fields">
      <legend>Callbacks</legend>
      <div class="fields two">
        {members.word('callbackUrl', 'URL', {
          hint: 'Receives a signed message when a turn ends or waits for an approval (Standard Webhooks).',
          placeholder: 'https://example.com/hooks/moniker',
        })}
        {members.secret('callbackSecret', 'Signing secret', { placeholder: hasSecret ? 'set; empty keeps it' : 'whsec_…' })}
      </div>
      {members.check('paused', 'Paused', { hint: noun })}
    </fieldset>
  );
}
