import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useUniqueId } from '../use-unique-id.ts';
import { bandOf, describe, extentOf, pathOf, xOf, type Curve } from './curves.ts';

/** Units of the plot. The picture is stretched to its width; the line widths are not. */
const SIZE = { width: 300, height: 72 };

/** One curve with its last value, or the value of the step under the pointer. `onLook` receives that step. */
export function CurveView({ curve, at, onLook }: {
  readonly curve: Curve;
  readonly at: number | undefined;
  readonly onLook: (step: number | undefined) => void;
}): JSX.Element {
  const id = useUniqueId();
  const drawn = useMemo(() => ({ line: pathOf(curve, SIZE), band: bandOf(curve, SIZE), extent: extentOf(curve), text: describe(curve) }), [curve]);
  const { values, format, name } = curve;
  const shown = Math.min(at ?? values.length - 1, values.length - 1);
  const value = values[shown];
  const [low, high] = drawn.extent;
  const look = (event: JSX.TargetedPointerEvent<SVGSVGElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left) / Math.max(1, width);
    onLook(Math.round(Math.min(1, Math.max(0, share)) * (values.length - 1)));
  };
  return (
    <figure class="curve">
      <figcaption>
        <span>{name}</span>
        <span class="figures">
          {at !== undefined && <span class="quiet">{l10n.t('step {0}:', shown + 1)} </span>}
          <strong>{value === undefined ? '–' : format(value)}</strong>
        </span>
      </figcaption>
      <div class="curve-plot">
        <span class="curve-scale quiet" aria-hidden="true"><span>{format(high)}</span><span>{format(low)}</span></span>
        <svg
          role="img" aria-labelledby={`${id}-title`} aria-describedby={`${id}-text`} viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
          preserveAspectRatio="none" onPointerMove={look} onPointerLeave={() => onLook(undefined)}
        >
          <title id={`${id}-title`}>{name}</title>
          <desc id={`${id}-text`}>{drawn.text}</desc>
          {drawn.band && <path class="curve-band" d={drawn.band} />}
          {at !== undefined && <path class="curve-cursor" d={`M${xOf(shown, values.length, SIZE)} 0V${SIZE.height}`} />}
          <path class="curve-line" d={drawn.line} />
        </svg>
      </div>
    </figure>
  );
}
