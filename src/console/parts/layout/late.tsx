/** A part of a view whose script is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ProblemView } from '../text/problem-view.tsx';

export function late<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function Late(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(null);
    const [error, setError] = useState<unknown>(null);
    const [attempt, setAttempt] = useState(0);
    useEffect(() => {
      setError(null);
      // A function as a state is called by its setter.
      load().then((loaded) => setPart(() => loaded), setError);
    }, [attempt]);
    if (error !== null) return <ProblemView error={error} retry={() => setAttempt(attempt + 1)} />;
    return Part === null ? <p class="loading">Loading…</p> : <Part {...props} />;
  };
}
