/** Passes a stream through and calls `over` once when it ends, fails or is cancelled by its reader. */

export function onBodyEnd(body: ReadableStream<Uint8Array> | null, over: () => void): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const reader = body.getReader();
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    over();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
