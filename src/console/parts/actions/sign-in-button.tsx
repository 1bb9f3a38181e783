/** Signing in at another service, in a tab of its own. When the user returns, the state is read again. */
import { useSignal } from '@preact/signals';
import { useListeners } from '../layout/use-listeners.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { visible } from '../text/visible.ts';

type SignInButtonProps = {
  labels: { signIn: string; signOut: string; question: string };
  /** Tells buttons with the same label apart, for screen readers. */
  of?: string;
  isSignedIn: boolean;
  begin(): Promise<{ authorizationUrl: string }>;
  /** Does the work; the page shows why it failed. */
  attempt(work: () => Promise<void>): Promise<unknown>;
  end(): Promise<void>;
  reload(): void;
};

export function SignInButton({ labels, of, isSignedIn, begin, attempt, end, reload }: SignInButtonProps) {
  const url = useSignal<string | null>(null);
  const read = (): void => {
    if (!document.hidden) reload();
  };
  useListeners({ focus: read, visibilitychange: read }, [url.value], url.value !== null);
  const start = () =>
    attempt(async () => {
      const { authorizationUrl } = await begin();
      // The browser opens it.
      if (!/^https?:\/\//i.test(authorizationUrl)) throw new Error('The authorization server gave an address that is not http(s).');
      url.value = authorizationUrl;
      open(authorizationUrl, '_blank', 'noopener');
    });
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
