/** Makes elements of text nodes. */
import { h, type ComponentChildren } from 'preact';
import { type TextNode, visibleNodes } from '../../text/visible-nodes.ts';

/** A name, an argument, a result: text in which every hidden character is shown. */
export function visible(text: string): ComponentChildren {
  return render(visibleNodes(text));
}

export function render(nodes: readonly TextNode[]): ComponentChildren {
  return nodes.map((node, key) => (typeof node === 'string' ? node : h(node.tag, { key, ...node.attributes }, render(node.children))));
}
