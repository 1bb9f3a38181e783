/** Which prompts and resources of MCP servers a toolset offers, and under which names. */
import { IssuesOf } from '../../parts/fields/field-issues.tsx';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { moniker } from '../../api/moniker.ts';
import { bound, PlainForm, Select, Suggestions } from '../../parts/fields/controls.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { type OfferMember, type OfferRow, offerRows, serversOf, withOfferRows } from './offer-draft.ts';
import type { ToolsetDraft } from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

export function OffersPanel({ state }: { state: OpenToolset }) {
  const { generation, check } = state.document;
  const draft = state.document.draft.value;
  const known = useKnownOffers(draft);
  if (draft === null) return null;
  return (
    <IssuesOf error={check.value.error}>
      <p class="muted">MCP clients get them, and chats can begin with prompts.</p>
      {(['prompts', 'resources'] as const).map((kind) => (
        <OfferList key={`${generation.value} ${kind}`} state={state} draft={draft} kind={kind} known={known[kind]} />
      ))}
    </IssuesOf>
  );
}

type ListProps = { state: OpenToolset; draft: ToolsetDraft; kind: OfferMember; known: readonly string[] };

function OfferList({ state, draft, kind, known }: ListProps) {
  const rows = offerRows(draft, kind);
  const text = useSignal('');
  const write = (next: readonly OfferRow[] | null): void => state.document.edit(withOfferRows(draft, kind, next));
  const title = kind === 'prompts' ? 'Prompts' : 'Resources';
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <Select
        aria-label={`Which ${kind}`}
        value={rows === null ? 'all' : 'chosen'}
        choices={[
          ['all', 'what the trusted servers of its tools list'],
          ['chosen', 'only those below'],
        ]}
        onInput={(choice) => write(choice === 'all' ? null : [])}
      />
      {rows !== null && (
        <>
          {rows.length === 0 && <p class="muted">None.</p>}
          {rows.map((row, index) => (
            <Offer
              key={`${index} ${row.pattern}`}
              row={row}
              kind={kind}
              path={`${kind}[${index}].`}
              edit={(next) => write(rows.map((one, at) => (at === index ? next : one)))}
              remove={() => write(rows.filter((_row, at) => at !== index))}
            />
          ))}
          <PlainForm
            class="actions"
            send={() => {
              const pattern = text.value.trim();
              if (pattern === '') return;
              write([...rows, { pattern }]);
              text.value = '';
            }}
          >
            <input
              aria-label={`Add ${kind}`}
              list={`known-${kind}`}
              autocomplete="off"
              placeholder={kind === 'prompts' ? 'server.prompt, or server.*' : 'server.URI, or server.*'}
              {...bound(text)}
            />
            <Suggestions id={`known-${kind}`} values={known} />
            <button type="submit">Add</button>
          </PlainForm>
        </>
      )}
    </section>
  );
}

type OfferProps = { row: OfferRow; kind: OfferMember; path: string; edit(next: OfferRow): void; remove(): void };

function Offer({ row, kind, path, edit, remove }: OfferProps) {
  const { pattern } = row;
  const members = memberFields(row, edit, path);
  const isOne = !pattern.endsWith('*');
  return (
    <details class="offer">
      <summary>
        <code>{visible(pattern)}</code>
      </summary>
      <div class="fields">
        {isOne && members.text('name', 'Name', { placeholder: 'Its own name' })}
        {isOne && kind === 'resources' && members.text('uri', 'URI', { placeholder: 'Its own URI' })}
        {isOne && members.names('aliases', kind === 'prompts' ? 'Aliases' : 'Further URIs')}
        {isOne && members.text('description', 'Description', { rows: 2, placeholder: 'Its own description' })}
        <label class="check">
          <input
            type="checkbox"
            checked={row.approval === 'always'}
            onChange={({ currentTarget: { checked } }) => {
              const { approval: _before, ...rest } = row;
              edit(checked ? { ...rest, approval: 'always' } : rest);
            }}
          />
          Each request requires approval
        </label>
        <button type="button" class="plain" aria-label={`Remove ${pattern}`} onClick={remove}>
          Remove
        </button>
      </div>
    </details>
  );
}

/** What the servers of the tools list, as suggestions. Without them, names can still be typed. */
function useKnownOffers(draft: ToolsetDraft | null): Record<OfferMember, readonly string[]> {
  const known = useSignal<Record<OfferMember, readonly string[]>>({ prompts: [], resources: [] });
  const servers = draft === null ? [] : serversOf(draft);
  useEffect(() => {
    const aborted = new AbortController();
    const read = async (server: string) => {
      const { items } = await moniker.value.get('/v1/servers/{server}/offers', { params: { path: { server } }, signal: aborted.signal });
      return items.map(({ kind, name }) => ({ kind, name: `${server}.${name}` }));
    };
    void Promise.allSettled(servers.map(read)).then((results) => {
      if (aborted.signal.aborted) return;
      const all = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const named = (isPrompt: boolean) => all.filter(({ kind }) => (kind === 'prompt') === isPrompt).map(({ name }) => name);
      const whole = servers.map((server) => `${server}.*`);
      known.value = { prompts: [...whole, ...named(true)], resources: [...whole, ...named(false)] };
    });
    return () => aborted.abort();
  }, [servers.join(' ')]);
  return known.value;
}
