/** The guard of a workspace: an endpoint that decides on calls before they run, and on their results. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { CheckField, ChoiceField, NamesField, NumberField, TextField } from '../../parts/fields.tsx';

type Guard = components['schemas']['Guard'];
const path = 'settings.guard';

export function GuardFields({ guard, onInput }: { guard: Guard | null; onInput(guard: Guard | null): void }) {
  const change = (members: { [Name in keyof Guard]?: Guard[Name] | undefined }): void => {
    if (guard !== null) onInput(withMembers(guard, members));
  };
  return (
    <>
      <CheckField
        label="Ask an endpoint about calls"
        path={guard === null ? path : `${path}.`}
        hint="It is sent each call, or each result, and allows, denies or replaces it."
        value={guard !== null}
        onInput={(isSet) => onInput(isSet ? { url: '', before: true, after: false, onFailure: 'deny', timeoutMs: 3_000 } : null)}
      />
      {guard !== null && (
        <>
          <div class="fields two">
            <TextField
              label="URL"
              path={`${path}.url`}
              placeholder="https://guard.example.com/moniker"
              value={guard.url}
              onInput={(url) => change({ url: url.trim() })}
            />
            <TextField
              label="Secret that signs the questions"
              path={`${path}.secret`}
              hint="Its hosts must contain that of the URL. Empty: not signed."
              value={guard.secret ?? ''}
              onInput={(secret) => change({ secret: secret.trim() || undefined })}
            />
            <NumberField
              label="Timeout (ms)"
              path={`${path}.timeoutMs`}
              placeholder="3000"
              value={guard.timeoutMs}
              onInput={(timeoutMs) => change({ timeoutMs })}
            />
            <ChoiceField
              label="Without an answer in time"
              path={`${path}.onFailure`}
              value={guard.onFailure ?? 'deny'}
              choices={[
                ['deny', 'the call is denied'],
                ['allow', 'the call runs'],
              ]}
              onInput={(choice) => change({ onFailure: choice === 'allow' ? 'allow' : 'deny' })}
            />
          </div>
          <CheckField
            label="Before each call"
            path={`${path}.before`}
            value={guard.before !== false}
            onInput={(before) => change({ before })}
          />
          <CheckField
            label="After each result"
            path={`${path}.after`}
            value={guard.after === true}
            onInput={(after) => change({ after })}
          />
          <NamesField
            label="Only calls with these toolsets"
            path={`${path}.toolsets`}
            hint="Empty: all calls."
            value={guard.toolsets ?? []}
            onInput={(toolsets) => change({ toolsets: toolsets.length > 0 ? toolsets : undefined })}
          />
        </>
      )}
    </>
  );
}
