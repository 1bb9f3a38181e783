/** Listens to events of the window and the document while a component is shown. */
import { useEffect } from 'preact/hooks';

type Listeners = { [Name in keyof (WindowEventMap & DocumentEventMap)]?: (event: (WindowEventMap & DocumentEventMap)[Name]) => void };

/** Events of the document reach the window. `on`: what the listeners depend on. */
export function useListeners(listeners: Listeners, on: readonly unknown[] = [], isOn = true): void {
  useEffect(() => {
    if (!isOn) return;
    const end = new AbortController();
    // Each listener gets the event of its name.
    for (const [name, listen] of Object.entries(listeners)) addEventListener(name, listen as EventListener, { signal: end.signal });
    return () => end.abort();
  }, [isOn, ...on]);
}
