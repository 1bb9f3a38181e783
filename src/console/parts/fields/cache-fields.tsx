/** Whether equal requests get a stored reply: of an alias or a key. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { ChoiceField } from './fields.tsx';
import { memberFields } from './member-fields.tsx';

type CachePolicy = components['schemas']['CachePolicy'];
type CacheProps<Draft> = { draft: Draft; edit(next: Draft): void };

const choices = [
  ['', 'as the request says'],
  ['set', 'get a stored reply'],
  ['never', 'always go to the model'],
] as const;

export function CacheFields<Draft extends { cache?: CachePolicy }>({ draft, edit }: CacheProps<Draft>) {
  const { cache } = draft;
  const set = (next: CachePolicy | undefined): void => edit(withMembers<{ cache?: CachePolicy }>(draft, { cache: next }) as Draft);
  const kind = cache === undefined ? '' : cache === false ? 'never' : 'set';
  return (
    <fieldset>
      <legend>Cached replies</legend>
      <div class="fields two">
        <ChoiceField
          label="Equal requests"
          path={kind === 'set' ? 'cache.kind' : 'cache'}
          value={kind}
          choices={choices}
          onInput={(chosen) => set({ '': undefined, set: { ttl: 3_600 }, never: false as const }[chosen])}
        />
        {typeof cache === 'object' && <StoredReply cache={cache} set={set} />}
      </div>
    </fieldset>
  );
}

type Stored = Exclude<CachePolicy, false>;

function StoredReply({ cache, set }: { cache: Stored; set(next: Stored): void }) {
  const members = memberFields<Partial<Stored>>(cache, (next) => set(next as Stored), 'cache.');
  return (
    <>
      {members.number('ttl', 'Seconds that a reply is used', { hint: '60 to 2592000, which are 30 days.' })}
      {members.choice('scope', 'A reply is for', [
        ['key', 'the key that got it'],
        ['workspace', 'all keys of the workspace'],
      ])}
    </>
  );
}
