/** Fields that webhooks and schedules share: who runs the turns, and where messages about them are sent. */
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { CheckField, SecretField, TextField } from './fields.tsx';
import { membersOf } from './members.ts';

type TriggerDraft = { agent: string; description?: string; paused?: boolean; callbackUrl?: string; callbackSecret?: string };
type TriggerFieldsProps<Draft> = { draft: Draft; edit(next: Draft): void };

export function AgentFields<Draft extends TriggerDraft>({ draft, edit }: TriggerFieldsProps<Draft>) {
  const agents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const members = membersOf<TriggerDraft>(draft, (next) => edit(next as Draft));
  return (
    <>
      <TextField
        label="Agent"
        hint="Runs the turns. Calls that require approval wait in the inbox."
        suggestions={agents}
        {...members.requiredWord('agent')}
      />
      <TextField label="Description" {...members.text('description')} />
    </>
  );
}

type CallbackProps<Draft> = TriggerFieldsProps<Draft> & { hasSecret: boolean; noun: string };

export function CallbackFields<Draft extends TriggerDraft>({ draft, edit, hasSecret, noun }: CallbackProps<Draft>) {
  const members = membersOf<TriggerDraft>(draft, (next) => edit(next as Draft));
  return (
    <fieldset class="fields">
      <legend>Callbacks</legend>
      <div class="fields two">
        <TextField
          label="URL"
          hint="Receives a signed message when a turn ends or waits for an approval (Standard Webhooks)."
          placeholder="https://example.com/hooks/moniker"
          {...members.word('callbackUrl')}
        />
        <SecretField
          label="Signing secret"
          placeholder={hasSecret ? 'set; empty keeps it' : 'whsec_…'}
          {...members.text('callbackSecret')}
        />
      </div>
      <CheckField label="Paused" hint={noun} {...members.check('paused')} />
    </fieldset>
  );
}
