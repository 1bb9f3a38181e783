export function MethodBadge({ method }: { method: string }) {
  return <span class={`method ${method}`}>{method === 'delete' ? 'del' : method}</span>;
}
