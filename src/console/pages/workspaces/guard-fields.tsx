/** The guard of a workspace: an endpoint that decides on calls before they run, and on their results. */
import type { components } from '../../../../client/src/index.ts';
import { CheckField, ChoiceField, NamesField, NumberField, TextField } from '../../parts/fields/fields.tsx';
import { membersOf } from '../../parts/fields/members.ts';

type Guard = components['schemas']['Guard'];
const path = 'settings.guard';

export function GuardFields({ guard, onInput }: { guard: Guard | null; onInput(guard: Guard | null): void }) {
  const members = guard && membersOf(guard, onInput, `${path}.`);
  return (
    <>
      <CheckField
        label="Ask an endpoint about calls"
        path={guard === null ? path : `${path}.`}
        hint="It is sent each call, or each result, and allows, denies or replaces it."
        value={guard !== null}
        onInput={(isSet) => onInput(isSet ? { url: '', before: true, after: false, onFailure: 'deny', timeoutMs: 3_000 } : null)}
      />
      {guard !== null && members !== null && (
        <>
          <div class="fields two">
            <TextField label="URL" placeholder="https://guard.example.com/moniker" {...members.requiredWord('url')} />
            <TextField
              label="Secret that signs the questions"
              hint="Its hosts must contain that of the URL. Empty: not signed."
              {...members.word('secret')}
            />
            <NumberField label="Timeout (ms)" placeholder="3000" {...members.number('timeoutMs')} />
            <ChoiceField
              label="Without an answer in time"
              {...members.choice('onFailure', [
                ['deny', 'the call is denied'],
                ['allow', 'the call runs'],
              ])}
            />
          </div>
          <CheckField
            label="Before each call"
            path={`${path}.before`}
            value={guard.before !== false}
            onInput={(before) => onInput({ ...guard, before })}
          />
          <CheckField label="After each result" {...members.check('after')} />
          <NamesField label="Only calls with these toolsets" hint="Empty: all calls." {...members.names('toolsets')} />
        </>
      )}
    </>
  );
}
