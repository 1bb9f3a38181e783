/** Fields that webhooks and schedules share: who runs the turns, and where messages about them are sent. */
import { useLoaded } from '../api/load.ts';
import { moniker } from '../api/moniker.ts';
import { CheckField, SecretField, TextField } from './fields.tsx';

type TriggerDraft = { agent: string; description?: string; paused?: boolean; callbackUrl?: string; callbackSecret?: string };
type TriggerFieldsProps = { draft: TriggerDraft; change(members: { [Name in keyof TriggerDraft]?: TriggerDraft[Name] | undefined }): void };

export function AgentFields({ draft, change }: TriggerFieldsProps) {
  const agents = useLoaded((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  return (
    <>
      <TextField
        label="Agent"
        path="agent"
        hint="Runs the turns. Calls that require approval wait in the inbox."
        value={draft.agent}
        suggestions={agents.data?.items.map(({ name }) => name) ?? []}
        onInput={(agent) => change({ agent: agent.trim() })}
      />
      <TextField
        label="Description"
        path="description"
        value={draft.description ?? ''}
        onInput={(description) => change({ description: description || undefined })}
      />
    </>
  );
}

export function CallbackFields({ draft, change, hasSecret, noun }: TriggerFieldsProps & { hasSecret: boolean; noun: string }) {
  return (
    <fieldset class="fields">
      <legend>Callbacks</legend>
      <div class="fields two">
        <TextField
          label="URL"
          path="callbackUrl"
          hint="Receives a signed message when a turn ends or waits for an approval (Standard Webhooks)."
          placeholder="https://example.com/hooks/moniker"
          value={draft.callbackUrl ?? ''}
          onInput={(url) => change({ callbackUrl: url.trim() || undefined })}
        />
        <SecretField
          label="Signing secret"
          path="callbackSecret"
          placeholder={hasSecret ? 'set; empty keeps it' : 'whsec_…'}
          value={draft.callbackSecret ?? ''}
          onInput={(secret) => change({ callbackSecret: secret || undefined })}
        />
      </div>
      <CheckField
        label="Paused"
        path="paused"
        hint={noun}
        value={draft.paused === true}
        onInput={(paused) => change({ paused: paused || undefined })}
      />
    </fieldset>
  );
}
