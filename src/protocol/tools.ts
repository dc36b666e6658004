/** The tools that the steps `call` and `sleep` use. */

/** `{seconds}` and `{text}` in an argument are replaced. */
export interface ToolChoice {
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  readonly slow: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

export const DEFAULT_TOOLS: ToolChoice = {
  call: { name: 'echo', arguments: { text: '{text}' } },
  slow: { name: 'sleep', arguments: { seconds: '{seconds}' } },
};

/** Puts values in the place of `{text}` and `{seconds}`: the whole argument keeps the value's type. */
export function fill(
  args: Readonly<Record<string, unknown>>,
  values: Record<string, unknown>,
): Record<string, unknown> {
  const place = (value: unknown): unknown => {
    const name = typeof value === 'string' ? /^\{(\w+)\}$/.exec(value)?.[1] : undefined;
    return name !== undefined && name in values ? values[name] : value;
  };
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, place(value)]));
}
