/** Signing in at another service, in a tab of its own. When the user returns, the state is read again. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ConfirmButton } from './confirm-button.tsx';
import { visible } from './visible.ts';

type SignInButtonProps = {
  labels: { signIn: string; signOut: string; question: string };
  /** Tells buttons with the same label apart, for screen readers. */
  of?: string;
  isSignedIn: boolean;
  /** Returns the address to open; null: the sign-in did not begin, and the page shows why. */
  begin(): Promise<string | null>;
  end(): Promise<void>;
  reload(): void;
};

export function SignInButton({ labels, of, isSignedIn, begin, end, reload }: SignInButtonProps) {
  const url = useSignal<string | null>(null);
  useEffect(() => {
    if (url.value === null) return;
    const read = (): void => {
      if (!document.hidden) reload();
    };
    addEventListener('focus', read);
    document.addEventListener('visibilitychange', read);
    return () => {
      removeEventListener('focus', read);
      document.removeEventListener('visibilitychange', read);
    };
  }, [url.value]);
  const start = async (): Promise<void> => {
    const address = await begin();
    if (address === null) return;
    url.value = address;
    open(address, '_blank', 'noopener');
  };
  const stop = async (): Promise<void> => {
    url.value = null;
    await end();
  };
  const name = (label: string) => (of === undefined ? undefined : `${label}: ${of}`);
  if (isSignedIn)
    return <ConfirmButton label={labels.signOut} name={name(labels.signOut)} question={labels.question} onConfirm={() => void stop()} />;
  return (
    <>
      {url.value !== null && (
        <a href={url.value} target="_blank" rel="noopener noreferrer">
          Continue at {visible(new URL(url.value).host)}
        </a>
      )}
      <button type="button" class="primary" aria-label={name(labels.signIn)} onClick={() => void start()}>
        {labels.signIn}
      </button>
    </>
  );
}

/** Returns the address of an authorization server, which the browser may open. Throws if it is no http(s) address. */
export function checkedAddress(authorizationUrl: string): string {
  if (!/^https?:\/\//i.test(authorizationUrl)) throw new Error('The authorization server gave an address that is not http(s).');
  return authorizationUrl;
}
