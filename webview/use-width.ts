import { createContext, type RefObject } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The minimum width, in pixels, for more than a list. */
const WIDE = 700;

/** The width of an element's content, in pixels, kept up to date; 0 before layout. */
export function useWidth<T extends HTMLElement>(): [RefObject<T>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** Whether the page is wide enough for more than a list. */
export const WideContext = createContext(false);

export function isWide(width: number): boolean {
  return width >= WIDE;
}

export function useIsWide(): boolean {
  return useContext(WideContext);
}
