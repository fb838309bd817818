import type {Act, Explorer} from "../domain/explorer";
import {Choices} from "./Choices";
import {Icon} from "./Icon";

export type Speed = "slow" | "normal" | "fast";

/** How long each step stays. */
export const SPEED_MS: Readonly<Record<Speed, number>> = {slow: 1600, normal: 800, fast: 300};
const SPEEDS = ["slow", "normal", "fast"] as const;
const NAMES = {slow: "Slow", normal: "Normal", fast: "Fast"};

interface Props {
  readonly explorer: Explorer;
  readonly steps: number;
  readonly speed: Speed;
  readonly onSpeed: (speed: Speed) => void;
  readonly dispatch: (act: Act) => void;
  readonly onHelp: () => void;
}

/** Step by step through a trace, by hand or by itself. */
export function ReplayBar({explorer, steps, speed, onSpeed, dispatch, onHelp}: Props) {
  const {step, playing} = explorer;
  const go = (to: number) => () => dispatch({type: "go", step: to});
  const [atFirst, atLast] = [step === 0, step >= steps - 1];
  return (
    <div class="replay" role="group" aria-label="Replay">
      <div class="buttons">
        <Step label="First step" icon="first" off={atFirst} onPress={go(0)} />
        <Step label="Step back" icon="back" off={atFirst} onPress={go(step - 1)} />
        <Step
          label={playing ? "Pause" : "Play"}
          icon={playing ? "pause" : "play"}
          onPress={() => dispatch({type: playing ? "pause" : "play"})}
        />
        <Step label="Step forward" icon="forward" off={atLast} onPress={go(step + 1)} />
        <Step label="Last step" icon="last" off={atLast} onPress={go(steps - 1)} />
      </div>
      <p class="position">
        Step {step + 1} of {steps}
      </p>
      <Choices label="Speed" values={SPEEDS} names={NAMES} value={speed} onChange={onSpeed} />
      <button type="button" class="quiet" onClick={onHelp}>
        Keys
      </button>
    </div>
  );
}

interface StepProps {
  readonly label: string;
  readonly icon: Parameters<typeof Icon>[0]["name"];
  readonly off?: boolean;
  readonly onPress: () => void;
}

function Step({label, icon, off = false, onPress}: StepProps) {
  // aria-disabled, not disabled: a button that loses the focus at the last step would strand it.
  return (
    <button
      type="button"
      class="quiet icon"
      aria-label={label}
      aria-disabled={off}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
