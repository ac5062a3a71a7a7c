// Production planning: 500 turns, one action each. This program rests in all of them.

#include <iostream>
#include <vector>

struct Input {
    int ids, levels, turns;
    long long apples;
    std::vector<long long> capacity;           // [id]
    std::vector<std::vector<long long>> cost;  // [level][id]
};

Input read_input() {
    Input input;
    std::cin >> input.ids >> input.levels >> input.turns >> input.apples;
    input.capacity.resize(input.ids);
    for (long long& a : input.capacity) std::cin >> a;
    input.cost.assign(input.levels, std::vector<long long>(input.ids));
    for (auto& row : input.cost)
        for (long long& c : row) std::cin >> c;
    return input;
}

// EVOLVE-BLOCK-START
struct Action {
    int level = -1;  // -1: do nothing
    int id = 0;
};

std::vector<Action> plan(const Input& input) {
    return std::vector<Action>(input.turns);
}
// EVOLVE-BLOCK-END

int main() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    const Input input = read_input();
    for (const Action& action : plan(input)) {
        if (action.level < 0)
            std::cout << "-1\n";
        else
            std::cout << action.level << ' ' << action.id << '\n';
    }
}
