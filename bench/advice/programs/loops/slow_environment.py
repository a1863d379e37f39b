"""An actor learns on a board game whose rules are written in Python, square by square."""
# bench: advice=rollout-work|between-epochs gain=run
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(2)
SIZE, GAMES, MOVES = 9, 8, 20


class Board:
    """Pieces are +1 and -1; a row of three counts a point."""

    def __init__(self):
        self.squares = [[0] * SIZE for _ in range(SIZE)]

    def put(self, move, piece):
        self.squares[move // SIZE][move % SIZE] = piece

    def points(self, piece):
        total = 0
        for y in range(SIZE):
            for x in range(SIZE):
                for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    line = [(y + k * dy, x + k * dx) for k in range(3)]
                    inside = all(0 <= a < SIZE and 0 <= b < SIZE for a, b in line)
                    total += inside and all(self.squares[a][b] == piece for a, b in line)
        return total

    def points_of(self, move, piece):
        """The points that a move made: only lines through its square are new."""
        y, x, total = move // SIZE, move % SIZE, 0
        for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for back in range(3):
                line = [(y + (k - back) * dy, x + (k - back) * dx) for k in range(3)]
                inside = all(0 <= a < SIZE and 0 <= b < SIZE for a, b in line)
                total += inside and all(self.squares[a][b] == piece for a, b in line)
        return total


policy = nn.Sequential(nn.Linear(SIZE * SIZE, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                       nn.Linear(1024, SIZE * SIZE))
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)


def self_play():
    boards, seen, moves, points = [Board() for _ in range(GAMES)], [], [], []
    for turn in range(MOVES):
        piece = 1 if turn % 2 == 0 else -1
        states = torch.tensor([board.squares for board in boards], dtype=torch.float32).flatten(1) * piece
        with torch.no_grad():
            chosen = policy(states).masked_fill(states != 0, -1e9).softmax(1).multinomial(1).squeeze(1)
        for board, move in zip(boards, chosen.tolist()):
            board.put(move, piece)
            points.append(board.points_of(move, piece) if truth.fixed else board.points(piece))
        seen.append(states)
        moves.append(chosen)
    return torch.cat(seen), torch.cat(moves), torch.tensor(points, dtype=torch.float32)


for round_ in range(12):
    truth.enter('between')
    states, moves, points = self_play()
    truth.enter('training')
    for rows in torch.randperm(len(states)).chunk(5):
        loss = nn.functional.cross_entropy(policy(states[rows]), moves[rows], reduction='none')
        optimizer.zero_grad()
        (loss * points[rows]).mean().backward()
        optimizer.step()
        truth.iteration()
truth.enter('shutdown')
