/** Shown while the tab has no key, or one that the service rejects. */
import { PlainForm } from '../../parts/fields/controls.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isKeyRejected } from '../../api/moniker.ts';
import { apiKey } from '../../api/key.ts';

export function KeyPage() {
  const input = useRef<HTMLInputElement>(null);
  const [key, setKey] = useState('');
  const isRejected = isKeyRejected.value && apiKey.value !== '';
  useEffect(() => input.current?.focus(), []);
  return (
    <div class="view key-page">
      <h1>{isRejected ? 'The key of this tab is not valid' : 'This tab has no key'}</h1>
      <p>
        {isRejected
          ? 'It was deleted, has expired, or belongs to another service. Enter another one; what you typed before is kept.'
          : 'Open the link that the service printed when it started, or enter a key. On this machine, the root key is in the file keys of the data folder.'}
      </p>
      <PlainForm
        send={() => {
          isKeyRejected.value = false;
          apiKey.value = key.trim();
        }}
      >
        <label for="entered-key">Key</label>
        <div class="key-row">
          <input
            id="entered-key"
            ref={input}
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="mk_… or the root key"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            Use this key
          </button>
        </div>
      </PlainForm>
      <p>
        Are you a member? <a href={signInPath()}>Sign in</a> with your account, without a key.
      </p>
      <p class="muted">A key is stored for this tab only, and sent to this service only.</p>
    </div>
  );
}

function signInPath(): string {
  return `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
}
