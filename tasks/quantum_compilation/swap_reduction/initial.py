"""LightSABRE: SWAPs that bring the front gates closer, with a look at the gates behind them.

The same policy as initial.rs, for the Python track.
"""

# EVOLVE-BLOCK-START
from swap_router import RouterError
from swap_router.dense_layout import best_subset

BASIC_WEIGHT = 1.0
LOOKAHEAD_WEIGHT = 0.5
LOOKAHEAD_SIZE = 20
DECAY_INCREMENT = 0.001
DECAY_RESET = 5
BEST_EPSILON = 1e-10


class CandidatePolicy:
    """One instance chooses the layout; each routing run gets a copy of it."""

    def __init__(self):
        self.decay = []

    def choose_best_initial_layout(self, ctx, rng):
        """Densely coupled physical qubits for each group of qubits that interact."""
        self.decay = []
        circuit, topology = ctx.circuit(), ctx.topology()
        num_logical = circuit.num_logical_qubits()
        if not circuit.used_logical_qubits():
            return list(range(num_logical))
        layout = [None] * num_logical
        for members, component in assign_components(circuit, topology):
            places = dense_places(len(members), component, topology)
            for logical, physical in zip(members, places, strict=True):
                layout[logical] = physical
        taken = set(layout)
        free = (qubit for qubit in range(topology.num_qubits()) if qubit not in taken)
        return [next(free) if physical is None else physical for physical in layout]

    def choose_best_swap(self, ctx, rng):
        """The SWAP with the lowest cost; one of them at random where several are equal."""
        topology = ctx.topology()
        self.update_decay(
            topology.num_qubits(), ctx.swaps_since_progress(), ctx.last_applied_swap()
        )
        front = ctx.front_layer().physical_pairs()
        candidates = candidate_swaps(front, topology)
        if not candidates:
            return None
        places = ctx.layout().logical_to_physical()
        pairs = ctx.precomputed_extended_set_logical_pairs()[:LOOKAHEAD_SIZE]
        ahead = [(places[a], places[b]) for a, b in pairs]
        costs = SwapCosts(front, ahead, topology.distances())
        best, lowest = [], float("inf")
        for a, b in candidates:
            cost = costs.after(a, b) * max(self.decay[a], self.decay[b])
            if cost + BEST_EPSILON < lowest:
                best, lowest = [(a, b)], cost
            elif abs(cost - lowest) <= BEST_EPSILON:
                best.append((a, b))
        return best[rng.gen_index(len(best))]

    def update_decay(self, num_qubits, swaps_since_progress, last):
        """Qubits that were just moved become a little more expensive to move again."""
        if len(self.decay) != num_qubits or swaps_since_progress == 0:
            self.decay = [1.0] * num_qubits
        elif last is not None:
            if swaps_since_progress % DECAY_RESET == 0:
                self.decay = [1.0] * num_qubits
            else:
                for qubit in last:
                    self.decay[qubit] += DECAY_INCREMENT


def assign_components(circuit, topology):
    """Pairs of a logical component and the device component that takes it, largest first."""
    components = topology.connected_components()
    capacity = [len(component) for component in components]
    assigned = []
    for members in sorted(circuit.logical_interaction_components(), key=len, reverse=True):
        for index, room in enumerate(capacity):
            if room >= len(members):
                capacity[index] -= len(members)
                assigned.append((members, components[index]))
                break
        else:
            raise RouterError("no part of the device is large enough for the circuit")
    return assigned


def dense_places(size, component, topology):
    """``size`` connected physical qubits of a component, in breadth-first order."""
    if size == len(component):
        return component
    local = {qubit: index for index, qubit in enumerate(component)}
    adjacency = [[local[other] for other in topology.neighbors(qubit)] for qubit in component]
    chosen = best_subset(size, adjacency)
    if len(chosen) < size:
        raise RouterError("found no connected set of physical qubits")
    return [component[index] for index in chosen]


def candidate_swaps(front, topology):
    """Couplings with at least one qubit of a front gate, each once."""
    active = {qubit for pair in front for qubit in pair}
    swaps = []
    for pair in front:
        for qubit in pair:
            for other in topology.neighbors(qubit):
                if other > qubit or other not in active:
                    swaps.append((qubit, other))
    return swaps


class SwapCosts:
    """Mean distance of the front gates plus half the mean distance of the gates behind them.

    Only the gates on the two exchanged qubits change their distance, so only those are looked at.
    """

    def __init__(self, front, ahead, distances):
        self.distances = distances
        self.front_weight = BASIC_WEIGHT / len(front)
        self.ahead_weight = LOOKAHEAD_WEIGHT / len(ahead) if ahead else 0.0
        self.base = self.front_weight * sum(distances[a][b] for a, b in front)
        self.base += self.ahead_weight * sum(distances[a][b] for a, b in ahead)
        self.front_partner = {}
        for a, b in front:
            self.front_partner[a], self.front_partner[b] = b, a
        self.ahead_partners = {}
        for a, b in ahead:
            self.ahead_partners.setdefault(a, []).append(b)
            self.ahead_partners.setdefault(b, []).append(a)

    def after(self, a, b):
        """The cost when a and b have been exchanged."""
        from_a, from_b = self.distances[a], self.distances[b]
        front_change = 0
        other = self.front_partner.get(a)
        if other is not None and other != b:
            front_change += from_b[other] - from_a[other]
        other = self.front_partner.get(b)
        if other is not None and other != a:
            front_change += from_a[other] - from_b[other]
        ahead_change = 0
        for other in self.ahead_partners.get(a, ()):
            if other != b:
                ahead_change += from_b[other] - from_a[other]
        for other in self.ahead_partners.get(b, ()):
            if other != a:
                ahead_change += from_a[other] - from_b[other]
        return self.base + (self.front_weight * front_change + self.ahead_weight * ahead_change)


# EVOLVE-BLOCK-END
